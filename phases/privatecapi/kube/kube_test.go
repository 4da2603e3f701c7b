package kube

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

func TestBound_holds_for_the_object_that_was_seen_and_leaves_the_plan_alone(t *testing.T) {
	w := phases.Write{Verb: phases.Patch, UID: "u", ResourceVersion: "7", Body: map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": nil}}}}
	for range 2 {
		patch, err := bound(w)
		if err != nil {
			t.Fatal(err)
		}
		if want := `{"metadata":{"labels":{"a":null},"resourceVersion":"7","uid":"u"}}`; string(patch) != want {
			t.Errorf("the patch is %s, not %s", patch, want)
		}
	}
	if about := w.Body["metadata"].(map[string]any); len(about) != 1 {
		t.Errorf("the plan has %v", about)
	}
}

func TestKindsOf_joins_versions_and_knows_subresources(t *testing.T) {
	verbs := metav1.Verbs{"get", "list"}
	kinds := kindsOf([]*metav1.APIResourceList{
		{GroupVersion: "cluster.x-k8s.io/v1beta2", APIResources: []metav1.APIResource{
			{Name: "machines", Kind: "Machine", Namespaced: true, Verbs: verbs}, {Name: "machines/status", Kind: "Machine", Namespaced: true, Verbs: metav1.Verbs{"get"}},
		}},
		{GroupVersion: "cluster.x-k8s.io/v1beta1", APIResources: []metav1.APIResource{{Name: "machines", Kind: "Machine", Namespaced: true, Verbs: verbs}}},
		{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{{Name: "deployments", Kind: "Deployment", Namespaced: true, Verbs: verbs}}},
		{GroupVersion: "infrastructure.cluster.x-k8s.io/v1", APIResources: []metav1.APIResource{{Name: "reviews", Kind: "Review", Verbs: metav1.Verbs{"create"}}}},
	}, func(group string) bool { return phases.SideOf(group) != "" })
	if len(kinds) != 1 || !slices.Equal(kinds[0].Versions, []string{"v1beta2", "v1beta1"}) || !kinds[0].Status || !kinds[0].Namespaced {
		t.Errorf("the kinds are %+v", kinds)
	}
}

func TestGroupsOf_are_those_that_an_API_server_gives_to_a_service_account(t *testing.T) {
	for account, want := range map[string][]string{
		"system:serviceaccount:ns:name": {"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:ns"},
		"somebody":                      {"system:authenticated"},
	} {
		if got := groupsOf(account); !slices.Equal(got, want) {
			t.Errorf("%s is in %v, not in %v", account, got, want)
		}
	}
}
