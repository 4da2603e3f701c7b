package privatecapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

func TestInUse_asks_for_hosted_clusters_only_where_the_programme_was_enabled(t *testing.T) {
	const none = -1
	for name, row := range map[string]struct {
		programme, clusters int
		annotations         string
		want, fails         bool
		asked               int
	}{
		"there is no programme":         {http.StatusNotFound, http.StatusOK, `{}`, false, false, 1},
		"the programme may not be read": {http.StatusForbidden, http.StatusOK, `{}`, false, false, 1},
		"it cannot be read now":         {http.StatusInternalServerError, http.StatusOK, `{}`, false, true, none},
		"there are no HostedClusters":   {http.StatusOK, http.StatusNotFound, `{}`, false, false, 2},
		"none has private types":        {http.StatusOK, http.StatusOK, `{"hypershift.openshift.io/scope":"legacy"}`, false, false, 2},
		"one has private types":         {http.StatusOK, http.StatusOK, `{"hypershift.openshift.io/private-capi-types":"true"}`, true, false, 2},
		"one is being moved":            {http.StatusOK, http.StatusOK, `{"hypershift.openshift.io/migration-in-progress":"true"}`, true, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				code, body := row.programme, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"capstan-private-capi"}}`
				if strings.HasSuffix(r.URL.Path, "/hostedclusters") {
					code, body = row.clusters, fmt.Sprintf(`{"apiVersion":"hypershift.openshift.io/v1beta1","kind":"HostedClusterList","items":[
						{"apiVersion":"hypershift.openshift.io/v1beta1","kind":"HostedCluster","metadata":{"namespace":"clusters","name":"a","annotations":%s}}]}`, row.annotations)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(code)
				if code == http.StatusOK {
					fmt.Fprint(w, body)
				}
			}))
			defer server.Close()
			got, err := InUse(t.Context(), &rest.Config{Host: server.URL}, "ops")
			if got != row.want || (err != nil) != row.fails || row.asked != none && asked != row.asked {
				t.Errorf("%v, %v after %d requests", got, err, asked)
			}
		})
	}
}
