package policy_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kadmission "k8s.io/apiserver/pkg/admission"

	"github.com/capstan-capi/capstan/phases/render/admission/admissiontest"
	"github.com/capstan-capi/capstan/phases/render/policy"
)

func TestCheck_anException_isForAKindOfItsGroup(t *testing.T) {
	const (
		secret = "{apiVersion: v1, kind: Secret, metadata: {namespace: other, name: a}}"
		theirs = "{apiVersion: foo.cluster.x-k8s.io/v1, kind: Secret, metadata: {namespace: other, name: a}}"
		job    = "{apiVersion: batch/v1, kind: Job, metadata: {namespace: other, name: a}, spec: {template: {spec: {}}}}"
	)
	wall := second(t, "capstan-exceptions")
	for _, row := range []struct {
		text, object string
		covers       bool
	}{
		{secret, "Secret other/a", true},
		{theirs, "Secret other/a", false},
		{theirs, "Secret.foo.cluster.x-k8s.io other/a", true},
		{theirs, "Secret.cluster.x-k8s.io other/a", false},
		{job, "Job other/a", true},
		{job, "Job.batch other/a", true},
	} {
		p := providers
		p.Exceptions = []policy.Exception{{Name: "a", Reason: "b", Image: image, Rule: "namespace", Object: row.object}}
		if got := broken(t, p, row.text); (len(got) == 0) != row.covers {
			t.Errorf("%s: %s breaks %q", row.object, row.text, got)
		}
		o := managed(parse(t, row.text)[0])
		labels := o.GetLabels()
		labels[policy.ExceptedLabel] = "namespace"
		o.SetLabels(labels)
		answers, err := wall.Ask(t.Context(), admissiontest.Request{
			Operation: kadmission.Create, Object: o, Params: &corev1.ConfigMap{Data: map[string]string{"a": "rule: namespace\nobject: " + row.object}},
		})
		if err != nil || len(answers) != 1 || (answers[0].Refused == "") != row.covers || strings.HasPrefix(answers[0].Refused, "error") {
			t.Errorf("%s: %s: the second wall says %+v, %v", row.object, row.text, answers, err)
		}
	}
}
