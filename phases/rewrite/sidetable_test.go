package rewrite_test

import (
	"net/http"
	"strings"
	"testing"
)

// Each text has PRIVATE where the client is to see the standard group, and KEPT
// where the private one is to stay.
func TestEachKindHasItsPlaces(t *testing.T) {
	t.Parallel()
	for target, text := range map[string]string{
		crds + "/machines.cluster.x-k8s.io": `{"metadata":{"name":"machines.PRIVATE","labels":{"apiVersion":"KEPT/v1"}},"spec":{"group":"PRIVATE","names":{"plural":"machines.KEPT"}},` +
			`"status":{"conditions":[{"message":"KEPT"}]}}`,
		"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/x": `{"spec":{"resourceAttributes":{"group":"PRIVATE","resource":"KEPT","name":"machines.KEPT"}},"status":{"reason":"KEPT"}}`,
		"/apis/authorization.k8s.io/v1/selfsubjectrulesreviews/x": `{"status":{"resourceRules":[{"verbs":["KEPT"],"apiGroups":["","PRIVATE"],"resources":["machines"],"resourceNames":["machines.KEPT"]},` +
			`{"apiGroups":["apiextensions.k8s.io"],"resources":["customresourcedefinitions"],"resourceNames":["machines.PRIVATE","KEPT"]}],"evaluationError":"KEPT"}}`,
		"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/x": `{"metadata":{"name":"KEPT"},"webhooks":[{"name":"default.KEPT","rules":[{"apiGroups":["PRIVATE"],"resources":["KEPT"]}]}]}`,
		"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/x": `{"spec":{"paramKind":{"apiVersion":"PRIVATE/v1","kind":"KEPT"},"matchConstraints":{"resourceRules":[{"apiGroups":["PRIVATE"]}],` +
			`"excludeResourceRules":[{"apiGroups":["ipam.PRIVATE"]}]},"validations":[{"expression":"KEPT"}]}}`,
		"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/x": `{"spec":{"policyName":"KEPT","matchResources":{"resourceRules":[{"apiGroups":["PRIVATE"]}]}}}`,
		"/api/v1/namespaces/a/events/x":                                             `{"involvedObject":{"apiVersion":"PRIVATE/v1","name":"KEPT"},"related":{"apiVersion":"PRIVATE/v1"},"message":"KEPT","source":{"component":"KEPT"}}`,
		"/apis/events.k8s.io/v1/namespaces/a/events/x":                              `{"regarding":{"apiVersion":"PRIVATE/v1"},"related":{"apiVersion":"PRIVATE/v1"},"note":"KEPT","reportingController":"KEPT"}`,
		"/apis/autoscaling/v2/namespaces/a/horizontalpodautoscalers/x":              `{"spec":{"scaleTargetRef":{"apiVersion":"PRIVATE/v1","name":"KEPT"}},"metadata":{"ownerReferences":[{"apiVersion":"PRIVATE/v1"}]}}`,
		"/api/v1/namespaces/a/configmaps/x":                                         `{"data":{"apiVersion":"KEPT/v1"},"metadata":{"finalizers":["KEPT"],"managedFields":[{"manager":"KEPT","apiVersion":"PRIVATE/v1","fieldsV1":{"apiVersion":"KEPT"}}]}}`,
		machinesOf + "/x": `{"apiVersion":"PRIVATE/v1","metadata":{"name":"KEPT","finalizers":["KEPT"],"annotations":{"apiVersion":"KEPT"}},"spec":{"template":{"metadata":{"labels":{"apiGroup":"KEPT"}},` +
			`"ref":{"apiGroup":"infrastructure.PRIVATE"}},"selector":{"matchLabels":{"KEPT":"KEPT"}}},"status":{"message":"KEPT"}}`,
	} {
		private, standard := "cluster.hypershift.openshift.io", "cluster.x-k8s.io"
		stored := strings.NewReplacer("PRIVATE", private, "KEPT", private).Replace(text)
		want := strings.NewReplacer("PRIVATE", standard, "KEPT", private).Replace(text)
		if got := answer(t, target, http.StatusOK, stored); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", target, got, want)
		}
	}
}
