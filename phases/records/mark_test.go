package records

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMark_is_written_before_anything_else_and_once(t *testing.T) {
	c := newCluster(t, &corev1.Service{ObjectMeta: named("one")})
	object, stale := &corev1.Service{}, &corev1.Service{}
	for _, o := range []client.Object{object, stale} {
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "one"}, o); err != nil {
			t.Fatal(err)
		}
	}
	const adopted = Mark("capstan.io/adopted")
	if err := adopted.Set(t.Context(), c, object, "uid-1"); err != nil || adopted.On(object) != "uid-1" {
		t.Fatalf("marked with %q, %v", adopted.On(object), err)
	}
	before := object.ResourceVersion
	if err := adopted.Set(t.Context(), c, object, "uid-1"); err != nil || object.ResourceVersion != before {
		t.Errorf("it is written twice, %v", err)
	}
	if err := adopted.Set(t.Context(), c, stale, "uid-2"); !apierrors.IsConflict(err) || adopted.On(stale) != "" {
		t.Errorf("from a stale copy: %v, marked with %q", err, adopted.On(stale))
	}
	if err := adopted.Clear(t.Context(), c, object); err != nil || adopted.On(object) != "" {
		t.Errorf("cleared: %q, %v", adopted.On(object), err)
	}
	if err := adopted.Clear(t.Context(), c, object); err != nil {
		t.Error(err)
	}
}
