package engine

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// oneOrphan is a ConfigMap that revision 4 applied, when revision 5 stays.
func oneOrphan(t *testing.T, changes ...change) condemned {
	t.Helper()
	obj := parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: "n", uid: u, resourceVersion: "9",
		labels: {capi-operator.openshift.io/managed-by: core},
		annotations: {capi-operator.openshift.io/revision: "4", capi-operator.openshift.io/owner: `+testOwner+`}}}`)
	for _, change := range changes {
		change(obj)
	}
	return condemned{key: Key{Version: "v1", Kind: "ConfigMap", Namespace: "n", Name: "a"}, uid: "u", served: true, actual: obj}
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
	with := func(c condemned, set func(*condemned)) condemned { set(&c); return c }
	remaining := func(u *unstructured.Unstructured) {
		u.Object["status"] = map[string]any{"conditions": []any{
			map[string]any{"type": "NamespaceFinalizersRemaining", "status": "True", "message": "hold/on in 1 resource instances"},
		}}
	}
	full := func(c *condemned) { c.held = &holding{2, "2 instances"} }
	free := func(c *condemned) { c.unmanaged = true }
	rows := []struct {
		name    string
		c       condemned
		consent bool
		want    Action
		says    string
	}{
		{"T1: left to administrators", with(oneOrphan(t), free), false, Orphaned, "administrators"},
		{"T1: left to administrators with its data, whatever the consent", with(with(oneOrphan(t), free), full), true, Orphaned, ""},
		{"T1: left to administrators, and gone", with(with(oneOrphan(t), free), func(c *condemned) { c.actual = nil }), false, Absent, ""},
		{"T1: left to administrators, and let go of before", with(oneOrphan(t, annotation(OwnerAnnotation, ""), annotation(RevisionAnnotation, "")), free), false, Foreign, ""},
		{"T2: not there", with(oneOrphan(t), func(c *condemned) { c.actual = nil }), false, Absent, ""},
		{"T3: its kind is not served", with(oneOrphan(t), func(c *condemned) { c.served, c.actual = false, nil }), false, Absent, "not served"},
		{"T4: a newer revision has taken it", oneOrphan(t, annotation(RevisionAnnotation, "6")), false, HandedOver, "revision 6"},
		{"T4: the revision that stays has taken it", oneOrphan(t, annotation(RevisionAnnotation, "5")), false, Deleted, ""},
		{"T4: an older number", oneOrphan(t, annotation(RevisionAnnotation, "2")), false, Deleted, ""},
		{"T4: without a number", oneOrphan(t, annotation(RevisionAnnotation, "")), false, Foreign, "no revision number"},
		{"T4: with a number that is none", oneOrphan(t, annotation(RevisionAnnotation, "abc")), false, Foreign, "no revision number"},
		{"T4: of another installation", oneOrphan(t, annotation(OwnerAnnotation, "other")), false, Foreign, `"other"`},
		{"T5: a controller has it", oneOrphan(t, controlled), false, Foreign, "Node other"},
		{"T5: an owner that is no controller does not keep it", oneOrphan(t, owned), false, Deleted, ""},
		{"T6: ours", oneOrphan(t), false, Deleted, "being deleted"},
		{"T6: ours, the label taken off", oneOrphan(t, unlabelled), false, Deleted, ""},
		{"T6: the identity taken off, but the same object", oneOrphan(t, annotation(OwnerAnnotation, "")), false, Deleted, ""},
		{"T6: the identity is not ours to see, and it is another object", oneOrphan(t, annotation(OwnerAnnotation, ""), otherUID), false, Foreign, "another object"},
		{"T6: another object, but ours", oneOrphan(t, otherUID), false, Deleted, ""},
		{"T6: the UID was never known", with(oneOrphan(t, annotation(OwnerAnnotation, "")), func(c *condemned) { c.uid = "" }), false, Deleted, ""},
		{"T9: on its way", oneOrphan(t, leaving), false, Terminating, "hold/on"},
		{"T9: on its way, and not empty yet", with(oneOrphan(t, leaving), full), false, Terminating, "still holds 2 instances"},
		{"T9: on its way, with something inside that is not", oneOrphan(t, leaving, remaining), false, Terminating, "hold/on in 1 resource"},
		{"T9: on its way, but somebody else's", oneOrphan(t, leaving, annotation(OwnerAnnotation, "other")), false, Foreign, ""},
		{"T11, T12: holds data", with(oneOrphan(t), full), false, Retained, "holds 2 instances"},
		{"T11, T12: holds data, with consent", with(oneOrphan(t), full), true, Deleted, "consented"},
		{"T11, T12: holds nothing", with(oneOrphan(t), func(c *condemned) { c.held = &holding{} }), false, Deleted, ""},
		{"3.7: a live revision has it", with(oneOrphan(t), func(c *condemned) { c.wanted = "new" }), true, HandedOver, "revision new"},
	}
	for _, row := range rows {
		got := row.c.fate(5, testOwner, row.consent)
		if got.action != row.want || !strings.Contains(got.why, row.says) {
			t.Errorf("%s: got %s, %q; want %s, %q", row.name, got.action, got.why, row.want, row.says)
		}
	}
}

func TestPrune_never_condemns_what_a_revision_has_that_is_not_older(t *testing.T) {
	keep, next := revisionOf(3, made(t, "v1 ConfigMap")...), revisionOf(4, made(t, "v1 ConfigMap", "v1 ConfigMap")...)
	e := seeing(t, listed(2, "ConfigMap o0", "ConfigMap o1", "ConfigMap o2"))
	if got := orphanNames(t, e, keep); got != "o1 o2" {
		t.Errorf("before the next revision: %q", got)
	}
	e.Watch(keep, next)
	if got := orphanNames(t, e, keep); got != "o2" {
		t.Errorf("with the next revision: %q", got)
	}
	planned, err := e.plan(keep)
	if err != nil {
		t.Fatal(err)
	}
	pass := &removal{e: e, keep: planned}
	if key := next.Components[0].Keys()[1]; pass.wanted(key) == "" {
		t.Errorf("%s may be deleted although a revision has it that came while pruning", key)
	}
}

func TestInventory_that_does_not_fit_is_refused_for_good(t *testing.T) {
	inv := &inventory{Revision: "big", Number: 1}
	for i := range 60_000 {
		inv.Entries = append(inv.Entries, entry{Version: "v1", Kind: "ConfigMap", Name: "x", UID: scattered(i)})
	}
	_, err := inv.configMap("ns", testOwner)
	var fault *RevisionError
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), "60000 objects") {
		t.Errorf("got %v", err)
	}
}

func TestInventory_of_5000_objects_fits_five_times(t *testing.T) {
	inv := &inventory{Revision: "large", Number: 1}
	for i := range 5000 {
		uid := scattered(i)
		inv.Entries = append(inv.Entries, entry{
			Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta1", Kind: "AWSMachineTemplate", Namespace: "openshift-cluster-api",
			Name: "object-" + string(uid[:12]), Component: "cluster-api-provider-aws", Wave: i / 500, UID: uid,
		})
	}
	obj, err := inv.configMap("ns", testOwner)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := unstructured.NestedString(obj.Object, "binaryData", inventoryKey)
	if size := len(text) * 3 / 4; size > configMapLimit/5 {
		t.Errorf("%d bytes", size)
	} else {
		t.Logf("%d bytes", size)
	}
}

// scattered is a UID that does not compress better than real ones.
func scattered(i int) types.UID {
	sum := sha256.Sum256([]byte(strconv.Itoa(i)))
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]))
}
