package decide

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
)

// oneOrphan is a ConfigMap that revision 4 applied, when revision 5 stays.
func oneOrphan(t *testing.T, changes ...change) Candidate {
	t.Helper()
	obj := objects.Parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: "n", uid: u, resourceVersion: "9",
		labels: {capi-operator.openshift.io/managed-by: core},
		annotations: {capi-operator.openshift.io/revision: "4", capi-operator.openshift.io/owner: `+testOwner+`}}}`)
	entryOf(testManager, "Apply", objects.AllFields)(obj)
	for _, change := range changes {
		change(obj)
	}
	return Candidate{Key: Key{Version: "v1", Kind: "ConfigMap", Namespace: "n", Name: "a"}, UID: "u", Served: true, Actual: obj}
}

func annotation(name, value string) change {
	return func(u *unstructured.Unstructured) {
		all := u.GetAnnotations()
		delete(all, name)
		if value != "" {
			all[name] = value
		}
		u.SetAnnotations(all)
	}
}

func unwritten(u *unstructured.Unstructured) { u.SetManagedFields(nil) }

func otherUID(u *unstructured.Unstructured) { u.SetUID("other") }

func leaving(u *unstructured.Unstructured) {
	now := metav1.Now()
	u.SetDeletionTimestamp(&now)
	u.SetFinalizers([]string{"hold/on"})
}

func controlled(u *unstructured.Unstructured) {
	yes := true
	u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "other", UID: "x", Controller: &yes}})
}

func TestFate(t *testing.T) {
	unlabelled := func(u *unstructured.Unstructured) { u.SetLabels(nil) }
	owned := func(u *unstructured.Unstructured) {
		u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "other", UID: "x"}})
	}
	with := func(c Candidate, set func(*Candidate)) Candidate { set(&c); return c }
	remaining := func(u *unstructured.Unstructured) {
		u.Object["status"] = map[string]any{"conditions": []any{
			map[string]any{"type": "NamespaceFinalizersRemaining", "status": "True", "message": "hold/on in 1 resource instances"},
		}}
	}
	unknownUID := func(c *Candidate) { c.UID = "" }
	full := func(c *Candidate) {
		c.Contents = &Contents{Count: 2, What: "2 instances", Holding: &Holding{Objects: []Held{{UID: "a"}, {UID: "b"}}}}
	}
	consented := func(c *Candidate) {
		full(c)
		c.Consent = &Consent{UID: "u", Count: 2, Digest: c.Contents.Holding.Digest(), By: "anna"}
	}
	more := func(c *Candidate) {
		consented(c)
		c.Contents.Holding.Add(Held{UID: "c"})
	}
	another := func(c *Candidate) {
		consented(c)
		c.Consent.UID = "another"
	}
	free := func(c *Candidate) { c.Unmanaged = true }
	rows := []struct {
		name string
		c    Candidate
		want Action
		says string
	}{
		{"T1: left to administrators", with(oneOrphan(t), free), Orphaned, "administrators"},
		{"T1: left to administrators with its data, whatever the consent", with(with(oneOrphan(t), free), consented), Orphaned, ""},
		{"T1: left to administrators, and gone", with(with(oneOrphan(t), free), func(c *Candidate) { c.Actual = nil }), Absent, ""},
		{"T1: left to administrators, and let go of before", with(oneOrphan(t, unwritten, annotation(OwnerAnnotation, ""), annotation(RevisionAnnotation, "")), free), Foreign, ""},
		{"T2: not there", with(oneOrphan(t), func(c *Candidate) { c.Actual = nil }), Absent, ""},
		{"T3: its kind is not served", with(oneOrphan(t), func(c *Candidate) { c.Served, c.Actual = false, nil }), Absent, "not served"},
		{"T4: a newer revision has taken it", oneOrphan(t, annotation(RevisionAnnotation, "6")), HandedOver, "revision 6"},
		{"T4: the revision that stays has taken it", oneOrphan(t, annotation(RevisionAnnotation, "5")), Deleted, ""},
		{"T4: an older number", oneOrphan(t, annotation(RevisionAnnotation, "2")), Deleted, ""},
		{"T4: without a number", oneOrphan(t, annotation(RevisionAnnotation, "")), Foreign, "no revision number"},
		{"T4: with a number that cannot be", oneOrphan(t, annotation(RevisionAnnotation, "1099511627777")), Foreign, "no revision number"},
		{"T4: with the highest number", oneOrphan(t, annotation(RevisionAnnotation, "1099511627776")), HandedOver, "revision 1099511627776"},
		{"T4: with a number that is none", oneOrphan(t, annotation(RevisionAnnotation, "abc")), Foreign, "no revision number"},
		{"T4: of another installation", oneOrphan(t, annotation(OwnerAnnotation, "other")), Foreign, `"other"`},
		{"T5: a controller has it", oneOrphan(t, controlled), Foreign, "Node other"},
		{"T5: an owner that is no controller does not keep it", oneOrphan(t, owned), Deleted, ""},
		{"T6: ours", oneOrphan(t), Deleted, "being deleted"},
		{"T6: ours, the label taken off", oneOrphan(t, unlabelled), Deleted, ""},
		{"T6: the identity taken off, but the same object", oneOrphan(t, annotation(OwnerAnnotation, "")), Deleted, ""},
		{"T6: the identity is not ours to see, and it is another object", oneOrphan(t, annotation(OwnerAnnotation, ""), unwritten, otherUID), Foreign, "another object of the same name, but its managedFields do not say that this installation wrote it"},
		{"T6: another object, with our identity on it", oneOrphan(t, unwritten, otherUID), Foreign, "another object of the same name, but its managedFields do not say that this installation wrote it"},
		{"T6: another object, which we wrote", oneOrphan(t, otherUID), Deleted, ""},
		{"T6: the very object, with our marks on it, which somebody else wrote", oneOrphan(t, unwritten, entryOf("other", "Update", objects.AllFields)), Foreign, "carries this installation's marks, but its managedFields do not say that this installation wrote it"},
		{"T6: the very object, with our marks on it, which nobody knows the writers of", oneOrphan(t, unwritten), Foreign, "carries this installation's marks, but its managedFields do not say that this installation wrote it"},
		{"T6: left to administrators, with our marks, which somebody else wrote", with(oneOrphan(t, unwritten), free), Foreign, "carries this installation's marks, but its managedFields do not say that this installation wrote it"},
		{"T6: the identity taken off, and the UID was never known", with(oneOrphan(t, unwritten, annotation(OwnerAnnotation, "")), unknownUID), Foreign, "unknown writer"},
		{"T6: the identity taken off, the UID was never known, and we wrote it", with(oneOrphan(t, annotation(OwnerAnnotation, "")), unknownUID), Deleted, ""},
		{"T6: the identity was never there, and the installer before us wrote the number", with(oneOrphan(t, unwritten, annotation(OwnerAnnotation, ""), entryOf("old-installer", "Apply", oldFields)), unknownUID), Deleted, ""},
		{"T9: on its way", oneOrphan(t, leaving), Terminating, "hold/on"},
		{"T9: on its way, and not empty yet", with(oneOrphan(t, leaving), full), Terminating, "still holds 2 instances"},
		{"T9: on its way, with something inside that is not", oneOrphan(t, leaving, remaining), Terminating, "hold/on in 1 resource"},
		{"T9: on its way, but somebody else's", oneOrphan(t, leaving, annotation(OwnerAnnotation, "other")), Foreign, ""},
		{"T11, T12: holds data", with(oneOrphan(t), full), Retained, "holds 2 instances"},
		{"T11, T12: holds data, with consent", with(oneOrphan(t), consented), Deleted, "as anna consented"},
		{"T11, T12: holds more than was consented to", with(oneOrphan(t), more), Retained, "holds 2 instances"},
		{"T11, T12: holds data, with consent for another object", with(oneOrphan(t), another), Retained, "holds 2 instances"},
		{"T9: on its way, with consent", with(oneOrphan(t, leaving), consented), Terminating, "still holds 2 instances"},
		{"T6: another object, with consent", with(oneOrphan(t, unwritten, otherUID), consented), Foreign, "another object"},
		{"T11, T12: holds nothing", with(oneOrphan(t), func(c *Candidate) { c.Contents = &Contents{} }), Deleted, ""},
		{"left alone", with(oneOrphan(t), func(c *Candidate) { c.LeftAlone = "is left alone" }), LeftAlone, "is left alone"},
		{"left alone, with consent", with(with(oneOrphan(t), consented), func(c *Candidate) { c.LeftAlone = "is left alone" }), LeftAlone, ""},
		{"left alone, and retained before", with(oneOrphan(t), func(c *Candidate) { c.LeftAlone, c.Retained = "is left alone", true }), Retained, "is left alone"},
		{"left alone, and gone", with(oneOrphan(t), func(c *Candidate) { c.LeftAlone, c.Actual = "is left alone", nil }), Absent, ""},
		{"3.7: a live revision has it", with(oneOrphan(t), func(c *Candidate) { c.LiveIn = "new" }), HandedOver, "revision new"},
		{"3.7: a live revision has objects in it", with(oneOrphan(t), func(c *Candidate) {
			c.Inhabited, c.Contents = "new", &Contents{Count: 1, What: "1 object"}
		}), HandedOver, "revision new has objects in it"},
	}
	for _, row := range rows {
		got := row.c.Decide(5, testUs)
		if got.Action != row.want || !strings.Contains(got.Why, row.says) {
			t.Errorf("%s: got %s, %q; want %s, %q", row.name, got.Action, got.Why, row.want, row.says)
		}
	}
}
