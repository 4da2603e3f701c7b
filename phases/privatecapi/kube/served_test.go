package kube

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// definition is one with a conversion by a Service.
func definition(plural, group, namespace string) string {
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%s.%s"},"spec":{"group":%q,
		"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"service":{"namespace":%q,"name":"converter"}}}}}}`, plural, group, group, namespace)
}

func TestUnserved_names_conversions_that_are_drained_and_those_that_nobody_answers(t *testing.T) {
	const drained, ready = "clusters-a", "shims"
	for name, row := range map[string]struct {
		definition, want string
	}{
		"a standard kind that is converted elsewhere":      {definition("machines", "cluster.x-k8s.io", "platform"), ""},
		"a standard kind that is converted by what goes":   {definition("machines", "cluster.x-k8s.io", drained), "machines.cluster.x-k8s.io is converted by Service clusters-a/converter, which is drained"},
		"a provider's kind that is converted by what goes": {definition("awsmachines", "infrastructure.cluster.x-k8s.io", drained), "awsmachines.infrastructure.cluster.x-k8s.io is converted by Service clusters-a/converter, which is drained"},
		"a private kind that is converted by what goes":    {definition("machines", "cluster.hypershift.openshift.io", drained), "machines.cluster.hypershift.openshift.io is converted by Service clusters-a/converter, which is drained"},
		"a private kind that is converted":                 {definition("machines", "cluster.hypershift.openshift.io", ready), ""},
		"a private kind that nobody converts":              {definition("machines", "cluster.hypershift.openshift.io", "away"), "has no ready endpoint"},
		"another's kind":                                   {definition("widgets", "example.com", drained), ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := against(t, func(w http.ResponseWriter, r *http.Request) {
				kind, items := "v1\",\"kind\":\"List", ""
				switch {
				case strings.HasSuffix(r.URL.Path, "/customresourcedefinitions"):
					items = row.definition
				case strings.HasSuffix(r.URL.Path, "/namespaces/"+ready+"/endpointslices"):
					kind, items = "discovery.k8s.io/v1\",\"kind\":\"EndpointSliceList", `{"metadata":{"name":"e"},"endpoints":[{"addresses":["10.0.0.1"]}]}`
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"apiVersion":"%s","items":[%s]}`, kind, items)
			})
			got, err := c.Unserved(t.Context(), drained)
			if err != nil || (len(got) == 0) != (row.want == "") || len(got) > 1 || !strings.Contains(strings.Join(got, ""), row.want) {
				t.Errorf("unserved are %q, %v", got, err)
			}
		})
	}
}
