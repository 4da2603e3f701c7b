package privatecapi

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
)

func TestWatches_ask_for_a_pass_when_a_fence_or_the_finalizer_of_moves_comes_or_goes(t *testing.T) {
	space := func(labels map[string]string) *metav1.PartialObjectMetadata {
		o := namespace()
		o.SetName("clusters-a")
		o.SetLabels(labels)
		keepLabels(o)
		return o
	}
	none, both := space(map[string]string{"a": "b"}), space(map[string]string{"a": "c", guards.FenceLabel: "both"})
	free, held := hostedCluster(), hostedCluster()
	held.SetFinalizers([]string{guards.Finalizer})
	for name, row := range map[string]struct{ got, want bool }{
		"a namespace without a fence":        {fenced.Create(event.CreateEvent{Object: none}), false},
		"a namespace with a fence":           {fenced.Create(event.CreateEvent{Object: both}), true},
		"a fence that comes":                 {fenced.Update(event.UpdateEvent{ObjectOld: none, ObjectNew: both}), true},
		"a fence that goes":                  {fenced.Update(event.UpdateEvent{ObjectOld: both, ObjectNew: none}), true},
		"another label":                      {fenced.Update(event.UpdateEvent{ObjectOld: none, ObjectNew: space(nil)}), false},
		"a namespace that goes with a fence": {fenced.Delete(event.DeleteEvent{Object: both}), true},
		"a finalizer that comes":             {marked.Update(event.UpdateEvent{ObjectOld: free, ObjectNew: held}), true},
		"a finalizer that goes":              {marked.Update(event.UpdateEvent{ObjectOld: held, ObjectNew: free}), true},
		"nothing":                            {marked.Update(event.UpdateEvent{ObjectOld: held, ObjectNew: held}), false},
	} {
		if row.got != row.want {
			t.Errorf("%s: a pass is asked for: %v", name, row.got)
		}
	}
	if len(none.GetLabels()) != 0 || len(both.GetLabels()) != 1 {
		t.Errorf("kept are %v and %v", none.GetLabels(), both.GetLabels())
	}
}
