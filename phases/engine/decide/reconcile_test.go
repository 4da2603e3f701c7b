package decide

import (
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
)

// The fields that an entry covers when our number was taken, when we had one more field, and when it is of somebody else's field.
const (
	noRevision = `{"f:data":{"f:a":{}},"f:metadata":{"f:annotations":{"f:capi-operator.openshift.io/owner":{}},"f:labels":{"f:capi-operator.openshift.io/managed-by":{}}}}`
	oldFields  = `{"f:data":{"f:a":{},"f:old":{}},"f:metadata":{"f:annotations":{".":{},"f:capi-operator.openshift.io/revision":{}},"f:labels":{"f:capi-operator.openshift.io/managed-by":{}}}}`
	onlyExtra  = `{"f:data":{"f:x":{}}}`
)

func settings() Desired {
	return manifestOf(objects.Settings()).Desired(testStamp)
}

// change is one thing that is different from the object as we applied it.
type change func(*unstructured.Unstructured)

func object(changes ...change) *unstructured.Unstructured {
	obj := settings().Payload
	obj.SetUID("uid")
	obj.SetResourceVersion("10")
	entryOf(testManager, "Apply", objects.AllFields)(obj)
	for _, c := range changes {
		c(obj)
	}
	return obj
}

// entryIn replaces the managedFields entry of a manager and operation.
func entryIn(version, manager, operation, fields string) change {
	return func(obj *unstructured.Unstructured) {
		var kept []metav1.ManagedFieldsEntry
		for _, e := range obj.GetManagedFields() {
			if e.Manager != manager || string(e.Operation) != operation {
				kept = append(kept, e)
			}
		}
		if fields != "" {
			kept = append(kept, metav1.ManagedFieldsEntry{
				Manager: manager, Operation: metav1.ManagedFieldsOperationType(operation), APIVersion: version,
				FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
			})
		}
		obj.SetManagedFields(kept)
	}
}

func entryOf(manager, operation, fields string) change {
	return entryIn("v1", manager, operation, fields)
}

func subresource(manager string) change {
	return func(obj *unstructured.Unstructured) {
		obj.SetManagedFields(append(obj.GetManagedFields(), metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Subresource: "status",
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(onlyExtra),
		}))
	}
}

func annotated(key, value string) change {
	return func(obj *unstructured.Unstructured) {
		annotations := obj.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[key] = value
		if value == "" {
			delete(annotations, key)
		}
		obj.SetAnnotations(annotations)
	}
}

func data(key, value string) change {
	return func(obj *unstructured.Unstructured) { _ = unstructured.SetNestedField(obj.Object, value, "data", key) }
}

func controlledBy(kind, name string) change {
	return func(obj *unstructured.Unstructured) {
		yes := true
		obj.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: kind, Name: name, UID: "other", Controller: &yes}})
	}
}

func unlabelled(obj *unstructured.Unstructured) { obj.SetLabels(nil) }

func foreignObject(obj *unstructured.Unstructured) {
	unlabelled(obj)
	obj.SetAnnotations(nil)
	obj.SetManagedFields(nil)
	entryOf("kubectl-create", "Update", objects.OnlyData)(obj)
}

func deleting(finalizers ...string) change {
	return func(obj *unstructured.Unstructured) {
		now := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
		obj.SetDeletionTimestamp(&now)
		obj.SetFinalizers(finalizers)
	}
}

type decision struct {
	name   string
	actual *unstructured.Unstructured
	mode   CollisionProtection
	action Action
	force  bool
	says   string
}

func decisions() []decision {
	return []decision{
		{"O1 absent", nil, CollisionProtectionPrevent, Created, false, "does not exist"},
		{"O4 unowned is a collision that names its writer", object(foreignObject), CollisionProtectionPrevent, Collision, false, "kubectl-create"},
		{"O4 unowned says how to go on", object(foreignObject), CollisionProtectionPrevent, Collision, false, AdoptAnnotation},
		{"O4 unowned is adopted by force when the manifest says so", object(foreignObject), CollisionProtectionIfNoController, Updated, true, "adopted"},
		{"O7 a foreign controller is a collision", object(controlledBy("Deployment", "x")), CollisionProtectionPrevent, Collision, false, "Deployment x"},
		{"O7b a foreign controller is never adopted", object(foreignObject, controlledBy("Deployment", "x")), CollisionProtectionIfNoController, Collision, false, "Deployment x"},
		{"another installation is never adopted", object(annotated(OwnerAnnotation, "other")), CollisionProtectionIfNoController, Collision, false, `"other"`},
		{"O10 ours, equal", object(), CollisionProtectionPrevent, Idle, false, ""},
		{"O10 equal value co-owned by another", object(entryOf("kubectl", "Apply", objects.OnlyData)), CollisionProtectionPrevent, Idle, false, ""},
		{"O10 foreign extra field", object(data("x", "y"), entryOf("kubectl", "Update", onlyExtra)), CollisionProtectionPrevent, Idle, false, ""},
		{"O11 field removed by another", object(entryOf(testManager, "Apply", objects.NoData)), CollisionProtectionPrevent, Updated, false, ".data"},
		{"O11 field dropped from the manifest", object(entryOf(testManager, "Apply", strings.Replace(objects.AllFields, `"f:a":{}`, `"f:a":{},"f:b":{}`, 1))), CollisionProtectionPrevent, Updated, false, ".data.b"},
		{"O12 field taken by another", object(data("a", "2"), entryOf(testManager, "Apply", objects.NoData), entryOf("kubectl-edit", "Update", objects.OnlyData)), CollisionProtectionPrevent, Recovered, true, ".data.a was changed by kubectl-edit"},
		{"O12 same value taken by another", object(entryOf(testManager, "Apply", objects.NoData), entryOf("kubectl-edit", "Update", objects.OnlyData)), CollisionProtectionPrevent, Recovered, true, "kubectl-edit"},
		{"O12 no Apply entry, equal values", object(entryOf(testManager, "Apply", "")), CollisionProtectionPrevent, Recovered, true, "managedFields"},
		{"O12 no Apply entry, other value", object(entryOf(testManager, "Apply", ""), data("a", "2")), CollisionProtectionPrevent, Recovered, true, ".data.a differs"},
		{"O13 older number", object(annotated(RevisionAnnotation, "6")), CollisionProtectionPrevent, Updated, false, "revision 6"},
		{"O13 older number, field taken", object(annotated(RevisionAnnotation, "6"), entryOf(testManager, "Apply", objects.NoData), entryOf("x", "Update", objects.OnlyData)), CollisionProtectionPrevent, Updated, true, "revision 6"},
		{"O14 newer number", object(annotated(RevisionAnnotation, "8")), CollisionProtectionPrevent, Progressed, false, "revision 8"},
		{"O14 newer number with other content", object(annotated(RevisionAnnotation, "8"), data("a", "2")), CollisionProtectionPrevent, Progressed, false, "revision 8"},
		{"O14 newer number, wiped managedFields", object(annotated(RevisionAnnotation, "8"), entryOf(testManager, "Apply", "")), CollisionProtectionPrevent, Progressed, false, ""},
		{"O14 number raised by hand, wiped managedFields", object(annotated(RevisionAnnotation, "99"), entryOf(testManager, "Apply", ""), entryOf("kubectl", "Update", `{"f:metadata":{"f:annotations":{"f:capi-operator.openshift.io/revision":{}}}}`)), CollisionProtectionPrevent, Recovered, true, "do not name us"},
		{"O14 newer number, booked by the API server in nobody's name", object(annotated(RevisionAnnotation, "8"), entryOf(testManager, "Apply", ""), entryOf("before-first-apply", "Update", `{"f:metadata":{"f:annotations":{"f:capi-operator.openshift.io/revision":{}}}}`)), CollisionProtectionPrevent, Progressed, false, "revision 8"},
		{"O14 number raised by hand", object(annotated(RevisionAnnotation, "99"), entryOf(testManager, "Apply", noRevision), entryOf("kubectl", "Update", `{"f:metadata":{"f:annotations":{"f:capi-operator.openshift.io/revision":{}}}}`)), CollisionProtectionPrevent, Recovered, true, "kubectl"},
		{"O15 number that is none, identity ours", object(annotated(RevisionAnnotation, "abc")), CollisionProtectionPrevent, Recovered, false, `is "abc"`},
		{"O15 number that is none, identity foreign", object(annotated(RevisionAnnotation, "abc"), annotated(OwnerAnnotation, "other")), CollisionProtectionPrevent, Collision, false, "other"},
		{"number removed", object(annotated(RevisionAnnotation, "")), CollisionProtectionPrevent, Updated, false, "no revision number"},
		{"identity removed, number kept", object(annotated(OwnerAnnotation, "")), CollisionProtectionPrevent, Updated, false, "owner"},
		{"all marks removed, our field manager kept", object(unlabelled, annotated(OwnerAnnotation, ""), annotated(RevisionAnnotation, "")), CollisionProtectionPrevent, Updated, false, ""},
		{"label removed by another", object(unlabelled, entryOf(testManager, "Apply", strings.Replace(objects.AllFields, `,"f:labels":{"f:capi-operator.openshift.io/managed-by":{}}`, "", 1))), CollisionProtectionPrevent, Updated, false, ManagedByLabel},
		{"legacy fields on an object of ours", object(annotated(OwnerAnnotation, ""), annotated(RevisionAnnotation, "3"), entryOf(testManager, "Apply", ""), entryOf("old-installer", "Apply", oldFields)), CollisionProtectionPrevent, Updated, false, "taken over from old-installer"},
		{"legacy fields, the same number", object(annotated(OwnerAnnotation, ""), entryOf(testManager, "Apply", ""), entryOf("old-installer", "Apply", oldFields)), CollisionProtectionPrevent, Updated, false, "taken over from old-installer"},
		{"legacy fields, a higher number", object(annotated(OwnerAnnotation, ""), annotated(RevisionAnnotation, "9"), entryOf(testManager, "Apply", ""), entryOf("old-installer", "Apply", oldFields)), CollisionProtectionPrevent, Updated, false, "taken over from old-installer"},
		{"legacy fields again after they were taken over", object(entryOf("old-installer", "Update", objects.OnlyData)), CollisionProtectionPrevent, Recovered, false, "old-installer wrote to it again"},
		{"legacy fields on an object of a newer revision of ours", object(annotated(RevisionAnnotation, "8"), entryOf("old-installer", "Update", onlyExtra)), CollisionProtectionPrevent, Progressed, false, "revision 8"},
		{"legacy status is nobody's business", object(subresource("old-installer")), CollisionProtectionPrevent, Idle, false, ""},
		{"adopted with legacy fields", object(foreignObject, entryOf("old-installer", "Update", objects.OnlyData)), CollisionProtectionIfNoController, Updated, true, "adopted"},
		{"O17 terminating", object(deleting("x/y")), CollisionProtectionPrevent, Terminating, false, "x/y"},
		{"O17 terminating and different", object(deleting(), data("a", "2")), CollisionProtectionPrevent, Terminating, false, "03:04:05Z"},
		{"O17 terminating and foreign", object(foreignObject, deleting()), CollisionProtectionPrevent, Terminating, false, ""},
		{"applied in another version", object(entryOf(testManager, "Apply", ""), entryIn("v0", testManager, "Apply", objects.AllFields)), CollisionProtectionPrevent, Updated, false, "v0"},
		{"garbled Apply entry", object(entryOf(testManager, "Apply", `{"nonsense":1}`)), CollisionProtectionPrevent, Recovered, true, ""},
	}
}

func TestDecide(t *testing.T) {
	for _, row := range decisions() {
		t.Run(row.name, func(t *testing.T) {
			target := settings()
			target.Collision = row.mode
			var before *unstructured.Unstructured
			if row.actual != nil {
				before = row.actual.DeepCopy()
			}
			v := Reconcile(target, row.actual, testNumber, testUs)
			if v.Action != row.action || v.Force != row.force || !strings.Contains(v.Why, row.says) {
				t.Errorf("got %s (force %t): %s; want %s (force %t): %s", v.Action, v.Force, v.Why, row.action, row.force, row.says)
			}
			if (v.Action == Collision) != (v.Owner != "") {
				t.Errorf("%s has holder %q", v.Action, v.Owner)
			}
			if before != nil && !equalObjects(before, row.actual) {
				t.Error("the actual object was changed")
			}
		})
	}
}

func equalObjects(a, b *unstructured.Unstructured) bool {
	x, errX := a.MarshalJSON()
	y, errY := b.MarshalJSON()
	return errX == nil && errY == nil && string(x) == string(y)
}

func TestDecide_a_stale_creation_entry_is_folded_before_the_apply_that_follows(t *testing.T) {
	actual := object(annotated(RevisionAnnotation, "6"), entryOf(testManager, "Update", onlyExtra), data("x", "dropped"))
	v := Reconcile(settings(), actual, testNumber, testUs)
	if v.Action != Updated || !v.Migrate || v.Claimed {
		t.Fatalf("%s (fold %t): %s", v.Action, v.Migrate, v.Why)
	}
	after := folded(t, actual, nil)
	own := ownershipOf(after, Identity{FieldManager: testManager})
	if own.created != nil || !(missing{path: fieldpath.MakePathOrDie("data", "x")}).ownedIn(own.applied) {
		t.Errorf("the dropped field must stay ours, so that the apply removes it: %s", own.applied)
	}
}

// states are the states of section 1.2 of the contract that an object can be in, before its number is looked at.
var states = []struct {
	name   string
	object change
	// what is done in the modes Prevent, IfNoController and None, for an object of an older, the same and a newer revision
	done [3][3]Action
}{
	{"O4 nobody's", foreignObject, everywhereDone(Collision, Updated, Updated)},
	{"O5, O6 orphaned: only a number, which we wrote", annotated(OwnerAnnotation, ""), ours(Updated)},
	{"O5, O6 nobody's: only a number, which somebody else wrote", func(obj *unstructured.Unstructured) {
		annotated(OwnerAnnotation, "")(obj)
		entryOf(testManager, "Apply", "")(obj)
		entryOf("kubectl-create", "Update", objects.AllFields)(obj)
	}, everywhereDone(Collision, Updated, Updated)},
	{"O7 its controller is another's", controlledBy("Deployment", "x"), everywhereDone(Collision, Collision, Updated)},
	{"O7b only labelled, its controller is another's", func(obj *unstructured.Unstructured) {
		annotated(OwnerAnnotation, "")(obj)
		controlledBy("Deployment", "x")(obj)
	}, everywhereDone(Collision, Collision, Updated)},
	{"O8, O9, O9b of another installation", annotated(OwnerAnnotation, "other"), everywhereDone(Collision, Collision, Collision)},
	{"O10 as desired", func(*unstructured.Unstructured) {}, ours(Idle)},
	{"O11 a field is gone", entryOf(testManager, "Apply", objects.NoData), ours(Updated)},
	{"O12 a field is another's", func(obj *unstructured.Unstructured) {
		entryOf(testManager, "Apply", objects.NoData)(obj)
		entryOf("kubectl-edit", "Update", objects.OnlyData)(obj)
	}, ours(Recovered)},
	{"O12 no Apply entry", entryOf(testManager, "Apply", ""), ours(Recovered)},
	{"O17 terminating", deleting("x/y"), everywhereDone(Terminating, Terminating, Terminating)},
	{"a legacy manager's", func(obj *unstructured.Unstructured) {
		annotated(OwnerAnnotation, "")(obj)
		entryOf(testManager, "Apply", "")(obj)
		entryOf("old-installer", "Apply", oldFields)(obj)
	}, everywhereDone(Updated, Updated, Updated)},
}

// ours is the row of an object of ours: the mode does not matter, an older number is always raised, a newer one left.
func ours(same Action) [3][3]Action {
	row := [3]Action{Updated, same, Progressed}
	return [3][3]Action{row, row, row}
}

// everywhereDone is the row of an object whose number does not matter.
func everywhereDone(prevented, uncontrolled, forced Action) [3][3]Action {
	all := func(a Action) [3]Action { return [3]Action{a, a, a} }
	return [3][3]Action{all(prevented), all(uncontrolled), all(forced)}
}

func TestDecide_every_state_in_every_mode_for_every_order_of_revisions(t *testing.T) {
	modes := [...]string{"Prevent", "IfNoController", "None"}
	orders := [...]string{"older", "same", "newer"}
	for _, state := range states {
		for mode, name := range modes {
			for order, which := range orders {
				t.Run(state.name+"/"+name+"/"+which, func(t *testing.T) {
					actual := object()
					if number := int64(testNumber - 1 + order); number != testNumber {
						annotated(RevisionAnnotation, strconv.FormatInt(number, 10))(actual)
					}
					state.object(actual)
					want := settings()
					want.Collision = CollisionProtection(mode)
					if v := Reconcile(want, actual, testNumber, testUs); v.Action != state.done[mode][order] {
						t.Errorf("got %s: %s; want %s", v.Action, v.Why, state.done[mode][order])
					}
				})
			}
		}
	}
}
