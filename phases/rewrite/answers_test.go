package rewrite_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

// answer is what a client reads of what the server answers to a GET.
func answer(t *testing.T, target string, code int, text string) string {
	t.Helper()
	request, err := parse(t, http.MethodGet, target)
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(request.Answer(code, "application/json; charset=utf-8", strings.NewReader(text)))
	if err != nil {
		t.Errorf("%s: %v", target, err)
	}
	return string(out)
}

const (
	machinesOf = "/apis/" + rewrite.Standard + "/v1beta2/namespaces/a/machines"
	podsOf     = "/api/v1/namespaces/a/pods"
	crds       = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
)

func TestAnAnswerIsRewrittenWhereGroupsAre(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		target     string
		code       int
		text, want string
	}{
		"a_status_names_the_standard_group": {
			machinesOf + "/m", http.StatusNotFound,
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"machines.cluster.hypershift.openshift.io \"m\" not found","reason":"NotFound","details":{"name":"m","group":"cluster.hypershift.openshift.io","kind":"machines","causes":[{"message":"see cluster.hypershift.openshift.io."}]},"code":404}`,
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"machines.cluster.x-k8s.io \"m\" not found","reason":"NotFound","details":{"name":"m","group":"cluster.x-k8s.io","kind":"machines","causes":[{"message":"see cluster.x-k8s.io."}]},"code":404}`,
		},
		"a_status_of_a_definition_has_its_name": {
			crds + "/machines.cluster.x-k8s.io", http.StatusNotFound,
			`{"kind":"Status","apiVersion":"v1","details":{"name":"machines.cluster.hypershift.openshift.io","group":"apiextensions.k8s.io"}}`,
			`{"kind":"Status","apiVersion":"v1","details":{"name":"machines.cluster.x-k8s.io","group":"apiextensions.k8s.io"}}`,
		},
		"the_message_of_what_is_no_status_stays": {
			podsOf + "/p", http.StatusOK,
			`{"kind":"Status","apiVersion":"example.org/v1","message":"cluster.hypershift.openshift.io","details":{"group":"cluster.hypershift.openshift.io"}}`,
			`{"kind":"Status","apiVersion":"example.org/v1","message":"cluster.hypershift.openshift.io","details":{"group":"cluster.hypershift.openshift.io"}}`,
		},
		"owners_in_a_table": {
			podsOf, http.StatusOK,
			`{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"apiVersion"}],"rows":[{"cells":["cluster.hypershift.openshift.io"],"object":{"metadata":{"ownerReferences":[{"apiVersion":"cluster.hypershift.openshift.io/v1beta2"}]}}}]}`,
			`{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"apiVersion"}],"rows":[{"cells":["cluster.hypershift.openshift.io"],"object":{"metadata":{"ownerReferences":[{"apiVersion":"cluster.x-k8s.io/v1beta2"}]}}}]}`,
		},
		"names_in_a_table_of_definitions": {
			crds, http.StatusOK,
			`{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[{"cells":["machines.cluster.hypershift.openshift.io","2026"],"object":{"metadata":{"name":"machines.cluster.hypershift.openshift.io"}}}]}`,
			`{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[{"cells":["machines.cluster.x-k8s.io","2026"],"object":{"metadata":{"name":"machines.cluster.x-k8s.io"}}}]}`,
		},
		"a_list_of_metadata": {
			podsOf, http.StatusOK,
			`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[{"metadata":{"ownerReferences":[{"apiVersion":"cluster.x-k8s.io/v1"}]}}]}`,
			`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[{"metadata":{"ownerReferences":[{"apiVersion":"platform-native.cluster.x-k8s.io/v1"}]}}]}`,
		},
		"items_of_what_is_no_list_stay": {
			podsOf + "/p", http.StatusOK,
			`{"items":[{"metadata":{"ownerReferences":[{"apiVersion":"cluster.x-k8s.io/v1"}]}}]}`,
			`{"items":[{"metadata":{"ownerReferences":[{"apiVersion":"cluster.x-k8s.io/v1"}]}}]}`,
		},
		"an_error_in_a_watch": {
			machinesOf + "?watch=1", http.StatusOK,
			`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","message":"too old: machines.cluster.hypershift.openshift.io","code":410}}` + "\n",
			`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","message":"too old: machines.cluster.x-k8s.io","code":410}}` + "\n",
		},
		"a_log_stays": {
			podsOf + "/p/log", http.StatusOK, `{"apiVersion":"cluster.x-k8s.io/v1"`, `{"apiVersion":"cluster.x-k8s.io/v1"`,
		},
		"a_secret_stays": {
			"/api/v1/namespaces/a/secrets/s", http.StatusOK,
			`{"type":"cluster.x-k8s.io/secret","stringData":{"apiVersion":"cluster.x-k8s.io/v1"},"metadata":{"finalizers":["cluster.x-k8s.io"],"labels":{"apiVersion":"cluster.x-k8s.io/v1"}}}`,
			`{"type":"cluster.x-k8s.io/secret","stringData":{"apiVersion":"cluster.x-k8s.io/v1"},"metadata":{"finalizers":["cluster.x-k8s.io"],"labels":{"apiVersion":"cluster.x-k8s.io/v1"}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := answer(t, row.target, row.code, row.text); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

func TestDiscoveryShowsEachStandardGroupOnce(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ target, text, want string }{
		"of_old": {
			"/apis",
			`{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"cluster.x-k8s.io","versions":[]} , {"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}]},{"name":"platform-native.cluster.x-k8s.io"},{"name":"cluster.hypershift.openshift.io","versions":[{"groupVersion":"cluster.hypershift.openshift.io/v1beta2","version":"v1beta2"}],"preferredVersion":{"groupVersion":"cluster.hypershift.openshift.io/v1beta2","version":"v1beta2"}},{"name":"ipam.cluster.x-k8s.io"}]}`,
			`{"kind":"APIGroupList","apiVersion":"v1","groups":[ {"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}]},{"name":"cluster.x-k8s.io","versions":[{"groupVersion":"cluster.x-k8s.io/v1beta2","version":"v1beta2"}],"preferredVersion":{"groupVersion":"cluster.x-k8s.io/v1beta2","version":"v1beta2"}}]}`,
		},
		"only_the_platform's": {"/apis", `{"groups":[{"name":"cluster.x-k8s.io"},{"name":"ipam.cluster.x-k8s.io"} ]}`, `{"groups":[ ]}`},
		"of_v2": {
			"/apis",
			`{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{"name":"cluster.x-k8s.io"},"versions":[]},{"metadata":{"name":"infrastructure.cluster.hypershift.openshift.io","creationTimestamp":null},"versions":[{"version":"v1","resources":[{"resource":"x","responseKind":{"group":"infrastructure.cluster.hypershift.openshift.io","version":"v1","kind":"X"},"subresources":[{"subresource":"status","responseKind":{"group":"infrastructure.cluster.hypershift.openshift.io"}}]}]}]},{"metadata":{"name":"infrastructure.cluster.x-k8s.io"}}]}`,
			`{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{"name":"infrastructure.cluster.x-k8s.io","creationTimestamp":null},"versions":[{"version":"v1","resources":[{"resource":"x","responseKind":{"group":"infrastructure.cluster.x-k8s.io","version":"v1","kind":"X"},"subresources":[{"subresource":"status","responseKind":{"group":"infrastructure.cluster.x-k8s.io"}}]}]}]}]}`,
		},
		"of_a_group": {
			"/apis/cluster.x-k8s.io",
			`{"kind":"APIGroup","apiVersion":"v1","name":"cluster.hypershift.openshift.io","versions":[{"groupVersion":"cluster.hypershift.openshift.io/v1beta2"}],"preferredVersion":{"groupVersion":"cluster.hypershift.openshift.io/v1beta2"}}`,
			`{"kind":"APIGroup","apiVersion":"v1","name":"cluster.x-k8s.io","versions":[{"groupVersion":"cluster.x-k8s.io/v1beta2"}],"preferredVersion":{"groupVersion":"cluster.x-k8s.io/v1beta2"}}`,
		},
		"of_a_version": {
			"/apis/cluster.x-k8s.io/v1beta2",
			`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"cluster.hypershift.openshift.io/v1beta2","resources":[{"name":"machines","group":"cluster.hypershift.openshift.io","categories":["cluster.x-k8s.io"]}]}`,
			`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"cluster.x-k8s.io/v1beta2","resources":[{"name":"machines","group":"cluster.x-k8s.io","categories":["cluster.x-k8s.io"]}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := answer(t, row.target, http.StatusOK, row.text); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

func TestOpenAPIDescribesStandardGroups(t *testing.T) {
	t.Parallel()
	hash := rewrite.RuleHash
	for name, row := range map[string]struct{ target, text, want string }{
		"the_index": {
			"/openapi/v3",
			`{"paths":{".well-known":{"serverRelativeURL":"/openapi/v3/.well-known?hash=A"},"apis/cluster.x-k8s.io":{"serverRelativeURL":"/openapi/v3/apis/cluster.x-k8s.io?hash=B"},"apis/cluster.hypershift.openshift.io/v1beta2":{"serverRelativeURL":"/openapi/v3/apis/cluster.hypershift.openshift.io/v1beta2?hash=C"}}}`,
			`{"paths":{".well-known":{"serverRelativeURL":"/openapi/v3/.well-known?hash=A-` + hash + `"},"apis/cluster.x-k8s.io/v1beta2":{"serverRelativeURL":"/openapi/v3/apis/cluster.x-k8s.io/v1beta2?hash=C-` + hash + `"}}}`,
		},
		"a_document_of_v3": {
			"/openapi/v3/apis/cluster.x-k8s.io/v1beta2",
			`{"openapi":"3.0.0","paths":{"/apis/cluster.hypershift.openshift.io/v1beta2/machines":{"get":{"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/io.openshift.hypershift.cluster.v1beta2.MachineList"}}}}},"x-kubernetes-group-version-kind":{"group":"cluster.hypershift.openshift.io","version":"v1beta2","kind":"Machine"}}}},"components":{"schemas":{"io.openshift.hypershift.cluster.infrastructure.v1beta2.Machine":{"properties":{"$ref":{"type":"string","default":{"$ref":"#/components/schemas/io.openshift.hypershift.cluster.v1.X"}}},"x-kubernetes-group-version-kind":[{"group":"cluster.x-k8s.io","kind":"M","version":"v1"},{"group":"cluster.hypershift.openshift.io","kind":"Machine","version":"v1beta2"}]},"io.k8s.api.core.v1.Pod":{}}}}`,
			`{"openapi":"3.0.0","paths":{"/apis/cluster.x-k8s.io/v1beta2/machines":{"get":{"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/io.x-k8s.cluster.v1beta2.MachineList"}}}}},"x-kubernetes-group-version-kind":{"group":"cluster.x-k8s.io","version":"v1beta2","kind":"Machine"}}}},"components":{"schemas":{"io.x-k8s.cluster.infrastructure.v1beta2.Machine":{"properties":{"$ref":{"type":"string","default":{"$ref":"#/components/schemas/io.openshift.hypershift.cluster.v1.X"}}},"x-kubernetes-group-version-kind":[{"group":"cluster.x-k8s.io","kind":"Machine","version":"v1beta2"}]},"io.k8s.api.core.v1.Pod":{}}}}`,
		},
		"the_document_of_v2": {
			"/openapi/v2",
			`{"swagger":"2.0","paths":{"/apis/cluster.x-k8s.io/v1beta1/machines":{"get":{}},"/apis/cluster.x-k8s.io/":{},"/api/v1/pods":{},"/apis/cluster.hypershift.openshift.io/v1beta2/machines":{"get":{"schema":{"$ref":"#/definitions/io.openshift.hypershift.cluster.v1beta2.Machine"}}}},"definitions":{"io.x-k8s.cluster.v1beta1.Machine":{},"io.x-k8s.cluster.platform-native.v1.X":{},"io.openshift.hypershift.cluster.v1beta2.Machine":{"items":{"$ref":"#/definitions/io.k8s.api.core.v1.Pod"}}}}`,
			`{"swagger":"2.0","paths":{"/api/v1/pods":{},"/apis/cluster.x-k8s.io/v1beta2/machines":{"get":{"schema":{"$ref":"#/definitions/io.x-k8s.cluster.v1beta2.Machine"}}}},"definitions":{"io.x-k8s.cluster.v1beta2.Machine":{"items":{"$ref":"#/definitions/io.k8s.api.core.v1.Pod"}}}}`,
		},
		"what_is_left_out_in_what_is_left_out": {
			"/openapi/v2",
			`{"definitions":{"io.a.B":{"x":1},"io.x-k8s.cluster.v1beta1.Cluster":{"properties":{"a":1},"x-kubernetes-group-version-kind":[{"group":"cluster.x-k8s.io"},{"group":"apps"},{"group":"cluster.x-k8s.io"}],"leak":{"a":1}},"io.a.C":{"x-kubernetes-group-version-kind":[{"group":"cluster.x-k8s.io"},{"group":"apps"}]}},"paths":{"/apis/cluster.x-k8s.io/":{"get":{"x-kubernetes-group-version-kind":[{"group":"cluster.x-k8s.io"}],"leak":1}},"/b":{}}}`,
			`{"definitions":{"io.a.B":{"x":1},"io.a.C":{"x-kubernetes-group-version-kind":[{"group":"apps"}]}},"paths":{"/b":{}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := answer(t, row.target, http.StatusOK, row.text); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

func TestWhatADocumentNamesIsSeenAsTheClientKnowsIt(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		seen  func(string) (string, bool)
		name  string
		want  string
		shown bool
	}{
		{rewrite.Definition, "io.openshift.hypershift.cluster.addons.v1.X", "io.x-k8s.cluster.addons.v1.X", true},
		{rewrite.Definition, "io.x-k8s.cluster.addons.v1.X", "io.x-k8s.cluster.platform-native.addons.v1.X", false},
		{rewrite.Definition, "io.k8s.api.core.v1.Pod", "io.k8s.api.core.v1.Pod", true},
		{rewrite.Definition, "X", "X", true},
		{rewrite.DocumentPath, "/apis/cluster.hypershift.openshift.io/v1/x", "/apis/cluster.x-k8s.io/v1/x", true},
		{rewrite.DocumentPath, "/apis/cluster.x-k8s.io/v1/x", "/apis/platform-native.cluster.x-k8s.io/v1/x", false},
		{rewrite.DocumentPath, "/version", "/version", true},
		{rewrite.Discovered, "ipam.cluster.hypershift.openshift.io", "ipam.cluster.x-k8s.io", true},
		{rewrite.Discovered, "platform-native.cluster.x-k8s.io", "cluster.hypershift.openshift.io", false},
	} {
		if got, shown := row.seen(row.name); shown != row.shown || shown && got != row.want {
			t.Errorf("%s is seen as %s, %t", row.name, got, shown)
		}
	}
	if got := rewrite.DefinitionRef("#/definitions/io.openshift.hypershift.cluster.v1.X"); got != "#/definitions/io.x-k8s.cluster.v1.X" {
		t.Error(got)
	}
}
