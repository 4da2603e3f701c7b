package act

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// keeping is an engine that has a revision of three waves to keep, of ConfigMaps a, b and c that do not exist, before an
// API server that creates whatever is asked for but ConfigMap silent, of which it breaks the connection.
type keeping struct {
	*Engine
	rev   *decide.Revision
	clock *clocktesting.FakeClock

	mu    sync.Mutex
	wrote []string
}

func (k *keeping) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := path.Base(r.URL.Path)
	if r.Method != http.MethodPatch {
		w.WriteHeader(http.StatusForbidden) // also to the watch of the inventories
		return
	}
	k.mu.Lock()
	k.wrote = append(k.wrote, name)
	k.mu.Unlock()
	obj := &unstructured.Unstructured{}
	body, _ := io.ReadAll(r.Body)
	_ = obj.UnmarshalJSON(body)
	obj.SetUID("uid")
	obj.SetResourceVersion("10")
	raw, _ := enginetest.WithEntry(obj, "capstan", "Apply", objects.NoData).MarshalJSON()
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw)
}

// silentFor says of requests about one object what a transport with a bound says of a request that was not answered.
func silentFor(name string) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if name != "" && path.Base(r.URL.Path) == name {
				return nil, givenUpError{}
			}
			return next.RoundTrip(r)
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func newKeeping(t *testing.T, silent string) *keeping {
	t.Helper()
	k := &keeping{clock: clocktesting.NewFakeClock(time.Now())}
	server := httptest.NewServer(k)
	t.Cleanup(server.Close)
	var err error
	k.Engine, err = New(Config{
		REST:      &rest.Config{Host: server.URL, QPS: -1, WrapTransport: silentFor(silent)},
		Namespace: "n", Owner: enginetest.Owner, FieldManager: "capstan", InventoryPrefix: "capstan-inventory-", Clock: k.clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	k.watches[place{kind: configMapKind}] = &see.Watch{Cluster: k.cluster, GVK: configMapKind, Resource: see.Resource{GVR: configMaps, Namespaced: true}, Synced: true}
	k.inventories = &see.Watch{Cluster: k.cluster, GVK: configMapKind, AlwaysServed: true, Synced: true}
	k.rev = &decide.Revision{Name: "rev", Number: enginetest.Number, ContentID: "content"}
	for _, name := range []string{"a", "b", "c"} {
		k.rev.Components = append(k.rev.Components, decide.Component{Name: "of-" + name, Objects: []*unstructured.Unstructured{
			objects.Parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {namespace: "n", name: `+name+`}}`),
		}})
	}
	k.Watch(k.rev)
	p, _ := k.plan(k.rev)
	stored, err := k.shelf.Place.ConfigMap(k.inventoryOf(p))
	if err != nil {
		t.Fatal(err)
	}
	k.inventories.Wrote(see.ObjectFrom(stored))
	return k
}

// written are the names of what was written since the last time.
func (k *keeping) written() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	wrote := k.wrote
	k.wrote = nil
	return wrote
}

// reconcile makes a pass.
func (k *keeping) reconcile(t *testing.T, opts ReconcileOptions) error {
	t.Helper()
	_, err := k.Reconcile(t.Context(), k.rev, opts)
	return err
}

func TestReconcile_keeps_a_revision_while_the_inventories_cannot_be_watched_and_tells_of_it(t *testing.T) {
	k := newKeeping(t, "")
	failed := make(chan struct{}, 1)
	k.cluster.Notify = func() {
		select {
		case failed <- struct{}{}:
		default:
		}
	}
	k.inventories.Start(t.Context(), see.View{GVR: configMaps, Namespace: "n"})
	<-failed
	k.clock.Step(2 * time.Minute)
	if err := k.reconcile(t, ReconcileOptions{}); err == nil || len(k.written()) > 0 {
		t.Errorf("a revision is applied on the strength of inventories that were not seen: %v", err)
	}
	if err := k.reconcile(t, ReconcileOptions{Keep: true}); err == nil || !strings.Contains(err.Error(), "watching the inventories") {
		t.Errorf("told: %v", err)
	}
	if wrote := k.written(); !slices.Equal(wrote, []string{"a", "b", "c"}) {
		t.Errorf("kept are %v", wrote)
	}
}

func TestReconcile_keeps_what_it_can_of_later_waves_when_one_object_falls_silent_each_time(t *testing.T) {
	for silent, want := range map[string][]string{"a": {"b", "c"}, "b": {"a", "c"}, "c": {"a", "b"}} {
		k := newKeeping(t, silent)
		var wrote []string
		for range 3 {
			if err := k.reconcile(t, ReconcileOptions{Keep: true}); err == nil || !strings.Contains(err.Error(), "the answer did not come") {
				t.Errorf("%s is silent: %v", silent, err)
			}
			wrote = append(wrote, k.written()...)
		}
		slices.Sort(wrote)
		if wrote = slices.Compact(wrote); !slices.Equal(wrote, want) {
			t.Errorf("%s is silent: kept are %v", silent, wrote)
		}
	}
}
