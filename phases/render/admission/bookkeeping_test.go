package admission_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/capstan-capi/capstan/phases/render/admission/admissiontest"
)

func TestBookkeeping_keeps_everybody_else_from_what_a_move_remembers(t *testing.T) {
	const operator = "system:serviceaccount:openshift-cluster-api-operator:capstan"
	book := func(name, data string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: openshift-cluster-api-operator}, data: {a: " + data + "}}"
	}
	const journal, programme = "capstan-private-capi-clusters.a-0123456789abcdef", "capstan-private-capi"
	for name, row := range map[string]struct {
		user    string
		request admissiontest.Request
		refused bool
	}{
		"the operator":                   {operator, admissiontest.Request{Operation: apiserver.Update, Object: object(t, book(journal, "c")), Old: object(t, book(journal, "b"))}, false},
		"somebody who changes one":       {"somebody", admissiontest.Request{Operation: apiserver.Update, Object: object(t, book(journal, "c")), Old: object(t, book(journal, "b"))}, true},
		"somebody who brings one":        {"somebody", admissiontest.Request{Operation: apiserver.Create, Object: object(t, book(journal, "c"))}, true},
		"somebody who takes one away":    {"somebody", admissiontest.Request{Operation: apiserver.Delete, Old: object(t, book(journal, "b"))}, true},
		"somebody who intervenes":        {"somebody", admissiontest.Request{Operation: apiserver.Delete, Old: object(t, book(journal, "b")), Verbs: []string{"intervene"}}, false},
		"who writes one again unchanged": {"somebody", admissiontest.Request{Operation: apiserver.Update, Object: object(t, book(journal, "b")), Old: object(t, book(journal, "b"))}, false},
		"who pauses the programme":       {"somebody", admissiontest.Request{Operation: apiserver.Update, Object: object(t, book(programme, "c")), Old: object(t, book(programme, "b"))}, false},
	} {
		row.request.User = row.user
		row.request.Namespace = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "openshift-cluster-api-operator"}}
		answers, err := shipped(t, "capstan-bookkeeping").Ask(t.Context(), row.request)
		if err != nil {
			t.Fatal(err)
		}
		for _, answer := range answers {
			if (answer.Refused != "") != row.refused || strings.HasPrefix(answer.Refused, "error") {
				t.Errorf("%s: the answer is %q", name, answer.Refused)
			}
		}
	}
}
