package kube

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// serving is a client of an API server with Machines and one more group, which does not answer.
func serving(t *testing.T, silent string) *Client {
	t.Helper()
	group := func(name, version string) string {
		return fmt.Sprintf(`{"name":%[1]q,"versions":[{"groupVersion":"%[1]s/%[2]s","version":%[2]q}],"preferredVersion":{"groupVersion":"%[1]s/%[2]s","version":%[2]q}}`, name, version)
	}
	answers := map[string]string{
		"/api":                           `{"kind":"APIVersions","versions":["v1"]}`,
		"/api/v1":                        `{"kind":"APIResourceList","groupVersion":"v1","resources":[]}`,
		"/apis":                          `{"kind":"APIGroupList","apiVersion":"v1","groups":[` + group("cluster.x-k8s.io", "v1beta1") + "," + group(silent, "v1") + `]}`,
		"/apis/cluster.x-k8s.io/v1beta1": `{"kind":"APIResourceList","groupVersion":"cluster.x-k8s.io/v1beta1","resources":[{"name":"machines","kind":"Machine","namespaced":true,"verbs":["list"]}]}`,
		"/apis/cluster.x-k8s.io/v1beta1/namespaces/clusters-a/machines": `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, is := answers[r.URL.Path]
		w.Header().Set("Content-Type", "application/json")
		if !is {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	c, err := New(&rest.Config{Host: server.URL}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestClient_needs_only_the_groups_that_it_asks_about(t *testing.T) {
	for silent, want := range map[string]struct{ kinds, dependents bool }{
		"custom.metrics.k8s.io":           {true, true},
		"metrics.k8s.io":                  {true, true},
		"team.example":                    {true, false},
		"infrastructure.cluster.x-k8s.io": {false, true},
	} {
		t.Run(silent, func(t *testing.T) {
			c := serving(t, silent)
			kinds, err := c.Kinds(t.Context())
			if (err == nil) != want.kinds || want.kinds && (len(kinds) != 1 || !slices.Equal(kinds[0].Versions, []string{"v1beta1"})) {
				t.Errorf("the kinds are %+v, %v", kinds, err)
			}
			if _, err := c.Dependents(t.Context(), "clusters-a", phases.Needed{All: true}); (err == nil) != want.dependents {
				t.Errorf("dependents: %v", err)
			}
			if _, err := c.Dependents(t.Context(), "clusters-a", phases.Needed{Kinds: []string{"secrets", "boxes.team.example"}}); (err == nil) != want.dependents {
				t.Errorf("dependents of that group: %v", err)
			}
			if _, err := c.Dependents(t.Context(), "clusters-a", phases.Needed{Kinds: []string{"secrets", "boxes.other.example"}}); err != nil {
				t.Errorf("dependents of other groups: %v", err)
			}
		})
	}
}
