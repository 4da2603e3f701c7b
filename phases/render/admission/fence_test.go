package admission_test

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"

	"github.com/capstan-capi/capstan/phases/render/admission/admissiontest"
)

func TestTheFenceLetsNobodyWriteButTheMoveAndOfThatNoCopyByAnotherOne(t *testing.T) {
	const (
		move  = "system:serviceaccount:openshift-cluster-api-operator:capstan"
		other = "system:serviceaccount:hosted:cluster-api"
	)
	text, err := os.ReadFile("../../../deploy/privatecapi/fence.yaml")
	if err != nil {
		t.Fatal(err)
	}
	fence, _, _ := strings.Cut(string(text), "\n---\n") // its binding comes after
	policy, err := admissiontest.New(object(t, fence))
	if err != nil {
		t.Fatal(err)
	}
	machine := func(group string, annotations map[string]string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": group + "/v1beta2", "kind": "Machine"}}
		o.SetNamespace("c-e")
		o.SetName("m")
		o.SetAnnotations(annotations)
		return o
	}
	const standard, private = "cluster.x-k8s.io", "infrastructure.cluster.hypershift.openshift.io"
	by := func(name string) map[string]string {
		return map[string]string{"capstan.openshift.io/migrated-by": name}
	}
	for name, row := range map[string]struct {
		user        string
		operation   admission.Operation
		group       string
		annotations map[string]string
		fence, of   string
		refused     bool
	}{
		"a copy by the move under way":             {move, admission.Create, private, by("a"), "both", "a", false},
		"a copy by another move":                   {move, admission.Create, private, by("b"), "both", "a", true},
		"a copy by no move":                        {move, admission.Create, private, nil, "both", "a", true},
		"a copy by a move where none is named":     {move, admission.Create, private, by("a"), "both", "", true},
		"a copy by another move to the open side":  {move, admission.Create, private, by("b"), "standard", "a", true},
		"a change by the move, of whatever copy":   {move, admission.Update, private, by("b"), "both", "a", false},
		"a deletion by the move":                   {move, admission.Delete, standard, nil, "both", "a", false},
		"a component behind both":                  {other, admission.Create, private, by("a"), "both", "a", true},
		"a component at the side that is shut":     {other, admission.Update, standard, nil, "standard", "a", true},
		"a component at the side that is open":     {other, admission.Update, private, nil, "standard", "a", false},
		"a component that deletes behind a fence":  {other, admission.Delete, private, nil, "private", "a", true},
		"a component behind what nobody knows":     {other, admission.Create, standard, nil, "none", "", true},
		"people behind a fence that names no move": {"somebody", admission.Update, standard, nil, "both", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			labels := map[string]string{"capstan.openshift.io/private-capi-fence": row.fence}
			if row.of != "" {
				labels["capstan.openshift.io/private-capi-move"] = row.of
			}
			request := admissiontest.Request{
				Operation: row.operation, User: row.user, Namespace: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "c-e", Labels: labels}},
			}
			if row.operation != admission.Delete {
				request.Object = machine(row.group, row.annotations)
			}
			if row.operation != admission.Create {
				request.Old = machine(row.group, row.annotations)
			}
			answers, err := policy.Ask(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			refused := ""
			for _, answer := range answers {
				refused += answer.Refused
			}
			if (refused != "") != row.refused {
				t.Errorf("the answer is %q", refused)
			}
		})
	}
}
