package act

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// refusing is an API server that refuses ConfigMap bad as invalid, and takes everything else.
type refusing struct {
	mu   sync.Mutex
	sent []string
}

func (s *refusing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	obj := &unstructured.Unstructured{}
	_ = obj.UnmarshalJSON(body)
	what := "write " + obj.GetName()
	if r.URL.Query().Get("dryRun") != "" {
		what = "try " + obj.GetName()
	}
	s.mu.Lock()
	s.sent = append(s.sent, what)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if obj.GetName() == "bad" {
		said := apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "bad", nil).Status()
		said.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		w.WriteHeader(http.StatusUnprocessableEntity)
		_ = json.NewEncoder(w).Encode(said)
		return
	}
	obj.SetUID(types.UID(path.Base(r.URL.Path)))
	obj.SetResourceVersion("10")
	_ = json.NewEncoder(w).Encode(enginetest.WithEntry(obj, "capstan", "Apply", objects.NoData).Object)
}

// requests are those that were sent but for inventories, sorted.
func (s *refusing) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := slices.DeleteFunc(slices.Clone(s.sent), func(what string) bool { return strings.Contains(what, "inventory") })
	slices.Sort(sent)
	return sent
}

// reconciles makes one pass over ConfigMaps in two waves.
func reconciles(t *testing.T, opts ReconcileOptions, present ...*unstructured.Unstructured) (sent []string, failed error) {
	t.Helper()
	api := &refusing{}
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	e, err := New(Config{REST: &rest.Config{Host: server.URL, QPS: -1}, Namespace: "n", Owner: enginetest.Owner, FieldManager: "capstan", InventoryPrefix: "capstan-inventory-"})
	if err != nil {
		t.Fatal(err)
	}
	e.inventories = &see.Watch{Cluster: e.cluster, Synced: true}
	e.watches[place{kind: configMapKind}] = &see.Watch{Cluster: e.cluster, GVK: configMapKind, Resource: see.Resource{GVR: configMaps, Namespaced: true}, Synced: true}
	for _, obj := range present {
		e.watches[place{kind: configMapKind}].Wrote(see.ObjectFrom(obj))
	}
	named := func(name string) *unstructured.Unstructured {
		return objects.Parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {namespace: "n", name: `+name+`}}`)
	}
	rev := enginetest.Revision(enginetest.Number, named("a"), named("bad"), named("settings"))
	rev.Components = append(rev.Components, decide.Component{Name: "later", Objects: []*unstructured.Unstructured{named("c"), named("d")}})
	e.Watch(rev)
	_, failed = e.Reconcile(t.Context(), rev, opts)
	return api.requests(), failed
}

func TestReconcile_tries_what_is_absent_unless_nothing_was_ever_installed(t *testing.T) {
	older := enginetest.Applied()
	older.SetAnnotations(map[string]string{decide.RevisionAnnotation: "6", decide.OwnerAnnotation: enginetest.Owner})
	for name, c := range map[string]struct {
		opts    ReconcileOptions
		present []*unstructured.Unstructured
		want    []string
	}{
		"an upgrade tries the wave, and the next one ahead":   {ReconcileOptions{}, nil, []string{"try a", "try bad", "try c", "try d", "try settings"}},
		"a first installation writes the rest of the wave":    {ReconcileOptions{FirstInstall: true}, nil, []string{"write a", "write bad", "write settings"}},
		"a first installation tries a wave that changes some": {ReconcileOptions{FirstInstall: true}, []*unstructured.Unstructured{older}, []string{"try a", "try bad", "try settings"}},
	} {
		sent, err := reconciles(t, c.opts, c.present...)
		if !slices.Equal(sent, c.want) {
			t.Errorf("%s: sent %v, want %v", name, sent, c.want)
		}
		if err == nil || !strings.HasPrefix(err.Error(), "creating ConfigMap n/bad of core: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
