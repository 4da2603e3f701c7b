package engine

import (
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

func TestFold_takes_legacy_fields_over_but_not_their_number(t *testing.T) {
	obj := object(annotated(OwnerAnnotation, ""), annotated(RevisionAnnotation, "9"), entryOf(FieldManager, "Apply", ""),
		entryOf("old-installer", "Apply", oldFields), entryOf("old-installer", "Update", onlyExtra), entryOf("kubectl", "Update", onlyData), subresource("old-installer"))
	after := folded(t, obj, settings().payload)
	own := ownershipOf(after, testUs.legacy)
	if own.legacy != nil || own.created != nil || own.applied == nil {
		t.Fatalf("left: legacy %s, created %s, applied %s", own.legacy, own.created, own.applied)
	}
	for _, name := range []string{"a", "old", "x"} {
		if !own.applied.Has(fieldpath.MakePathOrDie("data", name)) {
			t.Errorf("data.%s was not taken over", name)
		}
	}
	if own.numbered() == byUs {
		t.Error("the number of the old installer looks like ours")
	}
	var left []string
	for _, e := range after.GetManagedFields() {
		left = append(left, strings.TrimSpace(e.Manager+" "+string(e.Operation)+" "+e.Subresource))
	}
	if got := strings.Join(left, ", "); got != "capstan Apply, kubectl Update, old-installer Update status" {
		t.Errorf("left %s", got)
	}
	v := decide(settings(), after, testNumber, testUs)
	if v.action != Updated || v.fold || v.carries {
		t.Errorf("after it: %s (fold %t, carries %t): %s", v.action, v.fold, v.carries, v.why)
	}
}

func TestFold_never_takes_owner_references(t *testing.T) {
	obj := object(entryOf(FieldManager, "Update", `{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"other\"}":{"f:controller":{}}}}}`))
	if own := ownershipOf(folded(t, obj, nil), nil); strings.Contains(own.applied.String(), "ownerReferences") {
		t.Errorf("holds %s", own.applied)
	}
}

func TestRelease_leaves_every_owner_and_no_controller(t *testing.T) {
	obj := object(controlledBy("Deployment", "x"))
	raw, err := release(obj)
	if err != nil || !strings.Contains(string(raw), `"controller":false`) || strings.Contains(string(raw), `"controller":true`) ||
		!strings.Contains(string(raw), `"uid":"other"`) || !strings.Contains(string(raw), `"value":"10"`) {
		t.Errorf("%s, %v", raw, err)
	}
	if claimOf(obj, testOwner).holder == "" {
		t.Error("the object itself was changed")
	}
}

func TestOwnership_staying_names_who_keeps_what_we_drop(t *testing.T) {
	dropped := strings.Replace(allFields, `"f:a":{}`, `"f:a":{},"f:x":{}`, 1)
	obj := object(data("x", "y"), entryOf(FieldManager, "Apply", dropped), entryOf("kubectl", "Update", onlyExtra))
	v := decide(settings(), obj, testNumber, testUs)
	if v.action != Updated || v.why != ".data.x is not wanted any more; .data.x stays, because kubectl set it too" {
		t.Errorf("%s: %s", v.action, v.why)
	}
	raisedTo := decide(settings(), obj, testNumber+1, testUs)
	if raisedTo.why != "is at revision 7; .data.x stays, because kubectl set it too" {
		t.Errorf("in the next revision: %s", raisedTo.why)
	}
}

func TestDecide_names_the_field_that_a_legacy_manager_writes_again(t *testing.T) {
	rows := map[string]string{onlyExtra: ".data.x", onlyData: ".data.a"} // one that we do not hold comes first
	for fields, want := range rows {
		v := decide(settings(), object(entryOf("old-installer", "Update", fields)), testNumber, testUs)
		if v.action != Recovered || !v.repairs() || v.field != want || len(v.managers) != 1 {
			t.Errorf("%s: %s of %v, %v", fields, v.action, v.field, v.managers)
		}
	}
}
