package decide

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
)

func TestFold_takes_legacy_fields_over_but_not_their_number(t *testing.T) {
	obj := object(annotated(OwnerAnnotation, ""), annotated(RevisionAnnotation, "9"), entryOf(testManager, "Apply", ""),
		entryOf("old-installer", "Apply", oldFields), entryOf("old-installer", "Update", onlyExtra), entryOf("kubectl", "Update", objects.OnlyData), subresource("old-installer"))
	after := folded(t, obj, settings().Payload)
	own := ownershipOf(after, testUs)
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
	v := Reconcile(settings(), after, testNumber, testUs)
	if v.Action != Updated || v.Migrate || v.Claimed {
		t.Errorf("after it: %s (fold %t, carries %t): %s", v.Action, v.Migrate, v.Claimed, v.Why)
	}
}

func TestFold_never_takes_owner_references(t *testing.T) {
	obj := object(entryOf(testManager, "Update", `{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"other\"}":{"f:controller":{}}}}}`))
	if own := ownershipOf(folded(t, obj, nil), testUs); strings.Contains(own.applied.String(), "ownerReferences") {
		t.Errorf("holds %s", own.applied)
	}
}

func TestRelease_leaves_every_owner_and_no_controller(t *testing.T) {
	obj := object(controlledBy("Deployment", "x"))
	raw, err := ReleaseController(obj)
	if err != nil || !strings.Contains(string(raw), `"controller":false`) || strings.Contains(string(raw), `"controller":true`) ||
		!strings.Contains(string(raw), `"uid":"other"`) || !strings.Contains(string(raw), `"value":"10"`) {
		t.Errorf("%s, %v", raw, err)
	}
	if ClaimOf(obj, testUs).Owner == "" {
		t.Error("the object itself was changed")
	}
}

func TestOwnership_staying_names_who_keeps_what_we_drop(t *testing.T) {
	dropped := strings.Replace(objects.AllFields, `"f:a":{}`, `"f:a":{},"f:x":{}`, 1)
	obj := object(data("x", "y"), entryOf(testManager, "Apply", dropped), entryOf("kubectl", "Update", onlyExtra))
	v := Reconcile(settings(), obj, testNumber, testUs)
	if v.Action != Updated || v.Why != ".data.x is not desired any more; .data.x stays, because kubectl set it too" {
		t.Errorf("%s: %s", v.Action, v.Why)
	}
	raisedTo := Reconcile(settings(), obj, testNumber+1, testUs)
	if raisedTo.Why != "is at revision 7; .data.x stays, because kubectl set it too" {
		t.Errorf("in the next revision: %s", raisedTo.Why)
	}
}

func TestDecide_names_the_field_that_a_legacy_manager_writes_again(t *testing.T) {
	rows := map[string]string{onlyExtra: ".data.x", objects.OnlyData: ".data.a"} // one that we do not hold comes first
	for fields, want := range rows {
		v := Reconcile(settings(), object(entryOf("old-installer", "Update", fields)), testNumber, testUs)
		if v.Action != Recovered || !v.Repairs() || v.Field != want || len(v.Managers) != 1 {
			t.Errorf("%s: %s of %v, %v", fields, v.Action, v.Field, v.Managers)
		}
	}
}

func TestDecide_only_the_number_that_our_field_manager_wrote_shows_how_far_a_revision_came(t *testing.T) {
	const byHand = `{"f:metadata":{"f:annotations":{"f:capi-operator.openshift.io/revision":{}}}}`
	numbered := func(number string) change { return annotated(RevisionAnnotation, number) }
	taken := func(obj *unstructured.Unstructured) {
		entryOf(testManager, "Apply", noRevision)(obj)
		entryOf("kubectl", "Update", byHand)(obj)
	}
	for name, row := range map[string]struct {
		actual *unstructured.Unstructured
		want   bool
	}{
		"ours":                              {object(), true},
		"ours, and another holds it too":    {object(entryOf("kubectl", "Update", byHand)), true},
		"ours, of an older revision":        {object(numbered("6")), false},
		"ours, of a newer revision":         {object(numbered("8")), false},
		"raised by hand":                    {object(numbered("99"), taken), false},
		"raised by hand to the very number": {object(taken), false},
	} {
		if v := Reconcile(settings(), row.actual, testNumber, testUs); v.Claimed != row.want {
			t.Errorf("%s: %t (%s: %s)", name, v.Claimed, v.Action, v.Why)
		}
	}
}
