package decide

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestInside_counts_what_somebody_would_lose_with_a_namespace(t *testing.T) {
	namespaced := func(gvk schema.GroupVersionKind) bool { return gvk.Kind == "Deployment" || gvk.Kind == "ConfigMap" }
	owned := func(apiVersion, kind string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "owner", UID: "1"}}
	}
	for name, row := range map[string]struct {
		kind   schema.GroupKind
		object metav1.ObjectMeta
		want   bool
	}{
		"a user's object": {schema.GroupKind{Kind: "ConfigMap"}, metav1.ObjectMeta{Name: "mine"}, true},
		"a copy of ours":  {schema.GroupKind{Kind: "ConfigMap"}, metav1.ObjectMeta{Name: "copy", Annotations: map[string]string{OwnerAnnotation: "us"}}, true},
		"what says that it is an inventory": {
			schema.GroupKind{Kind: "ConfigMap"}, metav1.ObjectMeta{Name: "mine", Labels: map[string]string{"capi-operator.openshift.io/inventory": "us"}}, true,
		},
		"an Event": {schema.GroupKind{Kind: "Event"}, metav1.ObjectMeta{Name: "e"}, false},
		"a kind of another group that is called so": {schema.GroupKind{Group: "calendar.test", Kind: "Event"}, metav1.ObjectMeta{Name: "e"}, true},
		"what every namespace has":                  {schema.GroupKind{Kind: "ServiceAccount"}, metav1.ObjectMeta{Name: "default"}, false},
		"another ServiceAccount":                    {schema.GroupKind{Kind: "ServiceAccount"}, metav1.ObjectMeta{Name: "robot"}, true},
		"a user's kind with a name of that":         {schema.GroupKind{Group: "x.test", Kind: "ServiceAccount"}, metav1.ObjectMeta{Name: "default"}, true},
		"owned by an object of the namespace":       {schema.GroupKind{Kind: "Pod"}, metav1.ObjectMeta{Name: "p", OwnerReferences: owned("apps/v1", "Deployment")}, false},
		"owned by an object of the cluster":         {schema.GroupKind{Kind: "Secret"}, metav1.ObjectMeta{Name: "s", OwnerReferences: owned("rbac.authorization.k8s.io/v1", "ClusterRole")}, true},
		"owned by something that nobody serves":     {schema.GroupKind{Kind: "Secret"}, metav1.ObjectMeta{Name: "s", OwnerReferences: owned("gone.test/v1", "Gone")}, true},
		"owned by both": {
			schema.GroupKind{Kind: "Secret"},
			metav1.ObjectMeta{Name: "s", OwnerReferences: append(owned("rbac.authorization.k8s.io/v1", "ClusterRole"), owned("v1", "ConfigMap")...)},
			true,
		},
	} {
		if got := (Inside{Kind: row.kind, Object: &row.object, Namespaced: namespaced}).Counts(); got != row.want {
			t.Errorf("%s: counts %t, want %t", name, got, row.want)
		}
	}
}

func TestCensus_counts_an_object_once_however_many_kinds_it_is_served_as(t *testing.T) {
	census := NewCensus(func(schema.GroupVersionKind) bool { return true })
	for _, seen := range []struct {
		kind   schema.GroupKind
		object metav1.ObjectMeta
	}{
		{schema.GroupKind{Kind: "ConfigMap"}, metav1.ObjectMeta{Name: "mine", UID: "1"}},
		{schema.GroupKind{Group: "other.test", Kind: "Map"}, metav1.ObjectMeta{Name: "mine", UID: "1"}},
		{schema.GroupKind{Group: "other.test", Kind: "Account"}, metav1.ObjectMeta{Name: "default", UID: "2"}},
		{schema.GroupKind{Kind: "ServiceAccount"}, metav1.ObjectMeta{Name: "default", UID: "2"}}, // which every namespace has
		{schema.GroupKind{Kind: "ServiceAccount"}, metav1.ObjectMeta{Name: "builder", UID: "3"}},
		{schema.GroupKind{Group: "other.test", Kind: "Account"}, metav1.ObjectMeta{Name: "builder", UID: "3"}},
		{schema.GroupKind{Group: "other.test", Kind: "Reading"}, metav1.ObjectMeta{Name: "without a UID"}},
		{schema.GroupKind{Group: "other.test", Kind: "Reading"}, metav1.ObjectMeta{Name: "another"}},
	} {
		census.Add(seen.kind, &seen.object, seen.kind.Group == "")
	}
	if got := census.Count(); got != 3 {
		t.Errorf("counted %d, want 3", got)
	}
}

func TestCensus_believes_kube_apiserver_alone_of_its_objects_and_of_others_whoever_counts_them(t *testing.T) {
	const own, another = true, false
	secret, copied := schema.GroupKind{Kind: "Secret"}, schema.GroupKind{Group: "other.test", Kind: "Copy"}
	mine := &metav1.ObjectMeta{Name: "mine", UID: "1"}
	owned := &metav1.ObjectMeta{Name: "mine", UID: "1", OwnerReferences: []metav1.OwnerReference{{APIVersion: "other.test/v1", Kind: "Copy", Name: "owner", UID: "2"}}}
	add := map[string]func(*Census){
		"own counts":           func(c *Census) { c.Add(secret, mine, own) },
		"own does not":         func(c *Census) { c.Add(secret, owned, own) },
		"the copy counts":      func(c *Census) { c.Add(copied, mine, another) },
		"the copy does not":    func(c *Census) { c.Add(copied, owned, another) },
		"another copy counts":  func(c *Census) { c.Add(copied, mine, another) },
		"own in another group": func(c *Census) { c.Add(schema.GroupKind{Group: "x", Kind: "Secret"}, mine, own) },
	}
	for _, row := range []struct {
		seen []string
		want int64
	}{
		{[]string{"own counts", "the copy does not"}, 1},
		{[]string{"the copy does not", "own counts"}, 1},
		{[]string{"own does not", "the copy counts"}, 0},
		{[]string{"the copy counts", "own does not"}, 0},
		{[]string{"own does not", "own in another group", "the copy counts"}, 0},
		{[]string{"the copy does not", "another copy counts"}, 1},
		{[]string{"another copy counts", "the copy does not"}, 1},
		{[]string{"the copy does not", "another copy counts", "own does not"}, 0},
		{[]string{"another copy counts", "the copy does not", "own counts"}, 1},
		{[]string{"the copy counts"}, 1},
		{[]string{"the copy does not"}, 0},
	} {
		census := NewCensus(func(schema.GroupVersionKind) bool { return true })
		for _, name := range row.seen {
			add[name](census)
		}
		if got := census.Count(); got != row.want {
			t.Errorf("%v: counted %d, want %d", row.seen, got, row.want)
		}
	}
}
