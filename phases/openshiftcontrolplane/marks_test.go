package openshiftcontrolplane

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
)

func TestMarking_reads_only_what_the_cache_does_not_have_any_more(t *testing.T) {
	for name, row := range map[string]struct {
		// meanwhile are the marks that somebody else has set since.
		meanwhile, want guards.Marks
		reads           int
	}{
		"nothing has changed":       {guards.Marks{}, guards.Marks{Inputs: "d1"}, 0},
		"another mark was set":      {guards.Marks{Bootstrap: "u1"}, guards.Marks{Inputs: "d1", Bootstrap: "u1"}, 1},
		"the same mark was set":     {guards.Marks{Inputs: "d0"}, guards.Marks{Inputs: "d0"}, 1},
		"the bootstrap is finished": {guards.Marks{Finished: true}, guards.Marks{Inputs: "d1", Finished: true}, 1},
	} {
		c, reads := plane(t, asked()), 0
		live := interceptor.NewClient(c.(client.WithWatch), interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
				reads++
				return c.Get(ctx, key, o, options...)
			},
		})
		_, cached, err := Marking{Live: c, Key: key, UID: "p1"}.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		before := cached.DeepCopy()
		if _, err := (Marking{Client: c, Live: c, Key: key, UID: "p1"}).Advance(t.Context(), row.meanwhile); err != nil {
			t.Fatal(err)
		}
		m := Marking{Client: c, Live: live, Key: key, UID: "p1"}.By(cached)
		if got, err := m.Advance(t.Context(), guards.Marks{Inputs: "d1"}); err != nil || got != row.want || reads != row.reads {
			t.Errorf("%s: %+v after %d reads (%v), want %+v", name, got, reads, err, row.want)
		}
		if cached.ResourceVersion != before.ResourceVersion || len(cached.Annotations) != len(before.Annotations) {
			t.Errorf("%s: what the cache has was changed", name)
		}
		if stored, _, err := m.Read(t.Context()); err != nil || stored != row.want {
			t.Errorf("%s: stored is %+v (%v)", name, stored, err)
		}
	}
}

func TestMarking_refuses_another_object_than_the_one_of_the_cache(t *testing.T) {
	former := asked()
	former.ResourceVersion = "1"
	another := asked()
	another.UID = "p2"
	c := plane(t, another)
	m := Marking{Client: c, Live: c, Key: key, UID: "p1"}.By(former)
	if _, err := m.Advance(t.Context(), guards.Marks{Inputs: "d1"}); err == nil {
		t.Error("it was marked")
	}
	now := &v1alpha1.OpenShiftControlPlane{}
	if err := c.Get(t.Context(), key, now); err != nil || MarksOf(now) != (guards.Marks{}) {
		t.Errorf("its marks are %+v (%v)", MarksOf(now), err)
	}
}

func TestMarking_believes_no_cache_that_a_mark_is_set_already(t *testing.T) {
	c := plane(t, asked())
	cached := asked()
	cached.Annotations = map[string]string{v1alpha1.InitializedMark: "true"} // which somebody has taken off since
	m := Marking{Client: c, Live: c, Key: key, UID: "p1"}.By(cached)
	want := guards.Marks{Initialized: true}
	if got, err := m.Advance(t.Context(), want); err != nil || got != want {
		t.Errorf("it says %+v (%v)", got, err)
	}
	if stored, _, err := m.Read(t.Context()); err != nil || stored != want {
		t.Errorf("stored is %+v (%v)", stored, err)
	}
}
