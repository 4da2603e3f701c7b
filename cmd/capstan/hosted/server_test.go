package hosted

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/client-go/rest"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
)

const (
	hostedPath    = "/apis/hypershift.openshift.io/v1beta1/hostedclusters"
	programmePath = "/api/v1/namespaces/ops/configmaps/capstan-private-capi"
	lockPath      = "/apis/coordination.k8s.io/v1/namespaces/ops/leases/capstan-private-capi"
)

// pathOf is that of a HostedCluster of namespace clusters.
func pathOf(name string) string {
	return "/apis/hypershift.openshift.io/v1beta1/namespaces/clusters/hostedclusters/" + name
}

// management is an API server with a few objects, by their paths.
type management struct {
	mu      sync.Mutex
	objects map[string]map[string]any
	// forbidden are paths, or beginnings of them, that nobody may ask for.
	forbidden []string
	// patches are what was written, with dry runs; answers is what the operator does after each.
	patches []string
	// stale has every write come too late.
	stale   bool
	answers func(objects map[string]map[string]any)
}

func (m *management) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	for _, path := range m.forbidden {
		if strings.HasPrefix(r.URL.Path, path) {
			refuse(w, http.StatusForbidden, "Forbidden", "x")
			return
		}
	}
	if r.URL.Path == hostedPath {
		items := []any{}
		for path, object := range m.objects {
			if strings.HasPrefix(path, pathOf("")) {
				items = append(items, object)
			}
		}
		answer(w, map[string]any{"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedClusterList", "metadata": map[string]any{}, "items": items})
		return
	}
	object, found := m.objects[r.URL.Path]
	if !found {
		refuse(w, http.StatusNotFound, "NotFound", "x")
		return
	}
	if r.Method == http.MethodPatch {
		m.patch(w, r, object)
		return
	}
	answer(w, object)
}

// patch merges, and refuses what is bound to another version.
func (m *management) patch(w http.ResponseWriter, r *http.Request, object map[string]any) {
	body, _ := io.ReadAll(r.Body)
	m.patches = append(m.patches, r.URL.Query().Get("dryRun")+string(body))
	var bound struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	before, _ := json.Marshal(object)
	if err := json.Unmarshal(body, &bound); err != nil || m.stale || bound.Metadata.ResourceVersion != metadata(object)["resourceVersion"] {
		refuse(w, http.StatusConflict, "Conflict", "x")
		return
	}
	merged, err := jsonpatch.MergePatch(before, body)
	after := map[string]any{}
	if err != nil || json.Unmarshal(merged, &after) != nil {
		refuse(w, http.StatusBadRequest, "BadRequest", "x")
		return
	}
	if r.URL.Query().Get("dryRun") == "" {
		m.objects[r.URL.Path] = after
		if m.answers != nil {
			m.answers(m.objects)
		}
	}
	answer(w, after)
}

func answer(w io.Writer, body any) { _ = json.NewEncoder(w).Encode(body) }

func refuse(w http.ResponseWriter, code int, reason, name string) {
	w.WriteHeader(code)
	answer(w, map[string]any{
		"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reason, "details": map[string]any{"name": name},
	})
}

func metadata(object map[string]any) map[string]any {
	m, _ := object["metadata"].(map[string]any)
	return m
}

// one is a HostedCluster with annotations, of which the operator says something.
func one(name, state, says string, annotations map[string]any) map[string]any {
	object := map[string]any{
		"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedCluster",
		"metadata": map[string]any{"namespace": "clusters", "name": name, "uid": "uid-" + name, "resourceVersion": "7", "annotations": annotations, "creationTimestamp": "2026-01-01T00:00:00Z"},
	}
	if state != "" {
		setSays(object, state, says)
	}
	return object
}

// setSays has the condition of a HostedCluster say something.
func setSays(object map[string]any, state, says string) {
	object["status"] = map[string]any{"conditions": []any{map[string]any{
		"type": "PrivateCAPIMigrated", "status": "False", "reason": state, "message": state + ": " + says, "lastTransitionTime": "2026-02-01T00:00:00Z",
	}}}
}

func programme(data map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": data,
		"metadata": map[string]any{"namespace": "ops", "name": "capstan-private-capi", "resourceVersion": "3", "creationTimestamp": "2026-01-15T00:00:00Z"},
	}
}

var (
	legacyMarks  = map[string]any{guards.ScopeAnnotation: guards.ScopeLegacy}
	privateMarks = map[string]any{guards.PrivateTypesAnnotation: guards.MarkTrue}
)

// with are annotations and one more.
func with(marks map[string]any, name, value string) map[string]any {
	all := map[string]any{name: value}
	for key, value := range marks {
		all[key] = value
	}
	return all
}

// serve binds to an API server with objects.
func serve(t *testing.T, m *management) *Cluster {
	t.Helper()
	serving := httptest.NewServer(m)
	t.Cleanup(serving.Close)
	c, err := NewCluster(&rest.Config{Host: serving.URL}, "ops", "capstan-leader")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// world is an API server with the programme, and HostedClusters.
func world(data map[string]any, clusters ...map[string]any) *management {
	m := &management{objects: map[string]map[string]any{programmePath: programme(data)}}
	for _, c := range clusters {
		m.objects[pathOf(fmt.Sprint(metadata(c)["name"]))] = c
	}
	return m
}

// look looks at it.
func look(t *testing.T, m *management) (*Cluster, Seen) {
	t.Helper()
	c := serve(t, m)
	seen, err := c.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c, seen
}

var now = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
