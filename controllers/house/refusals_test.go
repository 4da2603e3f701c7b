package house

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	configv1 "github.com/openshift/api/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

var forbidden = apierrors.NewForbidden(schema.GroupResource{Group: "config.openshift.io", Resource: "clusterimagepolicies"}, "", nil)

// waited is a cache whose lists come to their ends when it is told.
type waited struct {
	cache.Cache
	filled chan struct{}
}

func (w waited) WaitForCacheSync(ctx context.Context) bool {
	select {
	case <-w.filled:
		return true
	case <-ctx.Done():
		return false
	}
}

func TestApart_is_waited_for_unless_a_list_is_refused(t *testing.T) {
	for name, row := range map[string]struct {
		comes func(waited, *noting, func())
		want  bool
	}{
		"all is listed":              {func(w waited, _ *noting, _ func()) { close(w.filled) }, true},
		"the context ends":           {func(_ waited, _ *noting, end func()) { end() }, false},
		"a list is refused":          {func(_ waited, n *noting, _ func()) { n.in.note(n, forbidden) }, true},
		"a list is refused before":   {nil, true},
		"another error, then a list": {func(w waited, n *noting, _ func()) { n.in.note(n, lacking); close(w.filled) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancel(t.Context())
				defer end()
				refused := &refusals{}
				list := &noting{in: refused}
				w := waited{filled: make(chan struct{})}
				if row.comes == nil {
					refused.note(list, forbidden)
				}
				came := make(chan bool, 1)
				go func() { came <- unlessRefused{Cache: w, refusals: refused}.WaitForCacheSync(ctx) }()
				synctest.Wait()
				if row.comes != nil {
					row.comes(w, list, end)
				}
				if got := <-came; got != row.want {
					t.Errorf("waiting for it ends with %v", got)
				}
			})
		})
	}
}

func TestApart_says_which_list_is_refused_until_it_is_answered(t *testing.T) {
	listed := false
	a := &Apart{filled: []filled{{kind: "Secret", is: func() bool { return listed }}}}
	lists := &served{object: &configv1.ClusterImagePolicy{}, fails: forbidden}
	through := a.refusals.noting(lists)
	if why := a.Unfilled(); why != "Secret objects have not been listed yet" {
		t.Errorf("before anything was asked it says %q", why)
	}
	with := toolscache.ToListerWatcherWithContext(through)
	if _, err := with.ListWithContext(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("the list is not refused")
	}
	if why := a.Unfilled(); !strings.Contains(why, "clusterimagepolicies.config.openshift.io is forbidden") {
		t.Errorf("it says %q", why)
	}
	lists.comes()
	if _, err := with.WatchWithContext(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
	if why := a.Unfilled(); strings.Contains(why, "forbidden") {
		t.Errorf("once it is answered it says %q", why)
	}
	if listed = true; a.Unfilled() != "" {
		t.Errorf("in the end it says %q", a.Unfilled())
	}
}
