package openshiftcontrolplane

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
)

func TestMarking_reads_only_what_the_cache_does_not_have_any_more(t *testing.T) {
	annotated := func(mark string) func(*v1alpha1.OpenShiftControlPlane) {
		return func(p *v1alpha1.OpenShiftControlPlane) { p.Annotations = map[string]string{mark: "true"} }
	}
	for name, row := range map[string]struct {
		// meanwhile is what somebody else has done since.
		meanwhile func(*v1alpha1.OpenShiftControlPlane)
		want      guards.Marks
		reads     int
		refused   bool
	}{
		"nothing has changed":       {nil, guards.Marks{Inputs: "d1"}, 0, false},
		"a label was set":           {func(p *v1alpha1.OpenShiftControlPlane) { p.Labels = map[string]string{"a": "b"} }, guards.Marks{Inputs: "d1"}, 1, false},
		"the same mark was set":     {annotated(v1alpha1.InputsMark), guards.Marks{Inputs: "true"}, 1, false},
		"another mark was set":      {annotated(v1alpha1.BootstrapMark), guards.Marks{Bootstrap: "true"}, 1, true},
		"the bootstrap is finished": {annotated(v1alpha1.BootstrapFinishedMark), guards.Marks{Finished: true}, 1, true},
		"an attempt was cleared":    {annotated(v1alpha1.ServedMark), guards.Marks{}, 1, true},
		"it is paused":              {annotated(clusterv1.PausedAnnotation), guards.Marks{}, 1, true},
		"the spec is another":       {func(p *v1alpha1.OpenShiftControlPlane) { p.Spec.ReleaseImage, p.Generation = "b", 2 }, guards.Marks{}, 1, true},
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
		if now := cached.DeepCopy(); row.meanwhile != nil {
			row.meanwhile(now)
			if err := c.Update(t.Context(), now); err != nil {
				t.Fatal(err)
			}
		}
		m := Marking{Client: c, Live: live, Key: key, UID: "p1"}.By(cached)
		if got, err := m.Advance(t.Context(), guards.Marks{Inputs: "d1"}); apierrors.IsConflict(err) != row.refused || !row.refused && err != nil || got != row.want || reads != row.reads {
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
	m := Marking{Client: c, Live: c, Key: key, UID: "p1"}
	want := guards.Marks{Initialized: true}
	if got, err := m.By(cached).Advance(t.Context(), want); !apierrors.IsConflict(err) || got != (guards.Marks{}) {
		t.Errorf("it says %+v (%v)", got, err)
	}
	_, cached, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.By(cached).Advance(t.Context(), want); err != nil || got != want {
		t.Errorf("with a newer cache it says %+v (%v)", got, err)
	}
	if stored, _, err := m.Read(t.Context()); err != nil || stored != want {
		t.Errorf("stored is %+v (%v)", stored, err)
	}
}

func TestMarking_of_an_attempt_marks_no_other_one(t *testing.T) {
	frozen := func(inputs, served string) *v1alpha1.OpenShiftControlPlane {
		p := asked()
		p.Annotations = map[string]string{v1alpha1.InputsMark: inputs, v1alpha1.ServedMark: served}
		return p
	}
	noted := asked() // its marks were lost
	noted.Annotations = map[string]string{v1alpha1.ServedMark: "s1"}
	noted.Status.Payload = &v1alpha1.PayloadStatus{Digest: "d1"}
	seen := (Look{Plane: frozen("d1", "s1")}).Facts(noon).AttemptID()
	for name, row := range map[string]struct {
		now *v1alpha1.OpenShiftControlPlane
		is  bool
	}{
		"the same":                     {frozen("d1", "s1"), true},
		"only the status tells":        {noted, true},
		"the next one":                 {frozen("d2", "s2"), false},
		"the next one of these inputs": {frozen("d1", "s2"), false},
		"none any more":                {asked(), false},
	} {
		c := plane(t, row.now)
		m := Marking{Client: c, Live: c, Key: key, UID: "p1"}.Of(seen)
		_, err := m.Now(t.Context())
		marks, refused := m.Advance(t.Context(), guards.Marks{Bootstrap: "u1"})
		if (err == nil) != row.is || (refused == nil) != row.is || (marks.Bootstrap == "u1") != row.is {
			t.Errorf("%s: %v; %+v, %v", name, err, marks, refused)
		}
	}
}
