package rescue

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/phases/engine"
)

func TestCarrying_counts_each_object_once_and_asks_only_for_kinds_that_can_be_applied(t *testing.T) {
	kind := func(name, plural, verbs string) string {
		return fmt.Sprintf(`{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":%q,"kind":%q,"namespaced":true,"verbs":[%s]}]}`, plural, name, verbs)
	}
	object := fmt.Sprintf(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[{"metadata":{"name":"a","namespace":"n","uid":"1","annotations":{%q:"7"}}}]}`, engine.RevisionAnnotation)
	answers := map[string]string{
		"/api":                     `{"kind":"APIVersions","versions":["v1"]}`,
		"/api/v1":                  kind("Role", "roles", `"list","patch"`),
		"/apis":                    `{"kind":"APIGroupList","groups":[{"name":"copy.test","versions":[{"groupVersion":"copy.test/v1","version":"v1"}]},{"name":"project.test","versions":[{"groupVersion":"project.test/v1","version":"v1"}]}]}`,
		"/apis/copy.test/v1":       kind("Role", "roles", `"list","patch"`),
		"/apis/project.test/v1":    kind("ProjectRequest", "projectrequests", `"list","create"`),
		"/api/v1/roles":            object,
		"/apis/copy.test/v1/roles": object,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text, known := answers[r.URL.Path]
		if !known {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = w.Write([]byte(text))
	}))
	defer server.Close()
	c, err := NewCluster(&rest.Config{Host: server.URL}, "n")
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.carrying(t.Context())
	if err != nil || len(got) != 1 || len(got[7]) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}
