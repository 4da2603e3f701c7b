package policy_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kadmission "k8s.io/apiserver/pkg/admission"

	"github.com/capstan-capi/capstan/phases/render/admission/admissiontest"
	"github.com/capstan-capi/capstan/phases/render/policy"
)

func TestTheSecondWall_lets_the_installer_write_over_what_is_there_only_if_that_is_its_own_or_is_adopted(t *testing.T) {
	wall := second(t, "capstan-writes")
	theirs := parse(t, header+"kind: ClusterRole\nmetadata: {name: cluster-admin}\nrules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]")[0]
	emptied := theirs.DeepCopy()
	emptied.Object["rules"] = []any{}
	with := func(o *unstructured.Unstructured, change func(*unstructured.Unstructured)) *unstructured.Unstructured {
		o = o.DeepCopy()
		change(o)
		return o
	}
	annotated := func(key string) func(*unstructured.Unstructured) {
		return func(o *unstructured.Unstructured) { o.SetAnnotations(map[string]string{key: "always"}) }
	}
	writtenBy := func(manager, subresource string) func(*unstructured.Unstructured) {
		return func(o *unstructured.Unstructured) {
			o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl"}, {Manager: manager, Subresource: subresource, Operation: metav1.ManagedFieldsOperationApply}})
		}
	}
	for name, row := range map[string]struct {
		old, object *unstructured.Unstructured
		refused     bool
	}{
		"what is not there":                            {nil, managed(emptied), false},
		"what is not there, without a label":           {nil, emptied, true},
		"another's, with a label and emptied":          {theirs, managed(emptied), true},
		"another's":                                    {theirs, emptied, true},
		"its own":                                      {managed(theirs), managed(emptied), false},
		"its own, which it gives up":                   {managed(theirs), theirs, false},
		"what has lost its label":                      {with(theirs, annotated("capi-operator.openshift.io/revision")), managed(emptied), false},
		"what has only its owner left":                 {with(theirs, annotated("capi-operator.openshift.io/owner")), managed(emptied), false},
		"what has lost label and number":               {with(theirs, writtenBy("capstan", "")), managed(emptied), false},
		"what has lost them, without a label":          {with(theirs, writtenBy("capstan", "")), emptied, true},
		"another's, whose status alone it has written": {with(theirs, writtenBy("capstan", "status")), managed(emptied), true},
		"another's, by a manager of a like name":       {with(theirs, writtenBy("capstan-retry", "")), managed(emptied), true},
		"what its manifest adopts":                     {theirs, with(managed(emptied), annotated(policy.AdoptAnnotation)), false},
		"what asks to be adopted itself":               {with(theirs, annotated(policy.AdoptAnnotation)), managed(emptied), true},
	} {
		operation := kadmission.Update
		if row.old == nil {
			operation = kadmission.Create
		}
		answers, err := wall.Ask(t.Context(), admissiontest.Request{Operation: operation, Old: row.old, Object: row.object})
		if err != nil {
			t.Fatal(err)
		}
		if got := answers[0].Refused; (got != "") != row.refused {
			t.Errorf("%s: refused by %q", name, got)
		}
	}
}
