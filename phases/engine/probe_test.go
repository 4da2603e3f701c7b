package engine

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestProbe(t *testing.T) {
	const (
		crd       = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x}, `
		dep       = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, generation: 2}, spec: {replicas: 2}, `
		daemon    = `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: x, generation: 2}, `
		stateful  = `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: x, generation: 1}, spec: {replicas: 2}, `
		jobs      = `{apiVersion: batch/v1, kind: Job, metadata: {name: x}, `
		namespace = `{apiVersion: v1, kind: Namespace, metadata: {name: x}, `
		service   = `{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: x, generation: 2}, `
	)
	rows := []struct {
		name, object string
		answer       Answer
		says         string
	}{
		{"a CRD without status", crd + `}`, AnswerUnknown, "Established"},
		{"a CRD whose names are not looked at", crd + `status: {conditions: [{type: Established, status: "True"}]}}`, AnswerUnknown, "NamesAccepted"},
		{"a CRD with refused names", crd + `status: {conditions: [{type: NamesAccepted, status: "False", reason: Conflict, message: taken}, {type: Established, status: "True"}]}}`, AnswerFalse, "Conflict: taken"},
		{"a CRD that is not served", crd + `status: {conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "False"}]}}`, AnswerFalse, "Established"},
		{"a CRD in service", crd + `status: {conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "True"}]}}`, AnswerTrue, ""},
		{"a Deployment without status", dep + `}`, AnswerUnknown, "generation 2"},
		{"a Deployment whose status is old", dep + `status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2, conditions: [{type: Available, status: "True"}]}}`, AnswerUnknown, "generation 2"},
		{"a Deployment whose old pods are available", dep + `status: {observedGeneration: 2, replicas: 2, updatedReplicas: 1, availableReplicas: 2, conditions: [{type: Available, status: "True"}]}}`, AnswerFalse, "1/2 replicas updated"},
		{"a Deployment with old pods left", dep + `status: {observedGeneration: 2, replicas: 3, updatedReplicas: 2, availableReplicas: 2, conditions: [{type: Available, status: "True"}]}}`, AnswerFalse, "1 old replicas"},
		{"a Deployment whose new pods do not start", dep + `status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, conditions: [{type: Available, status: "False"}]}}`, AnswerFalse, "0/2 updated replicas available"},
		{"a Deployment over its deadline", dep + `status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2, conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: too slow}]}}`, AnswerFalse, "too slow"},
		{"a Deployment without Available", dep + `status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}`, AnswerUnknown, "Available"},
		{"a Deployment at work", dep + `status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2, conditions: [{type: Available, status: "True"}]}}`, AnswerTrue, ""},
		{"a Deployment of nothing", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1, conditions: [{type: Available, status: "True"}]}}`, AnswerTrue, ""},
		{"a DaemonSet not yet seen", daemon + `status: {observedGeneration: 1}}`, AnswerUnknown, ""},
		{"a DaemonSet half rolled out", daemon + `status: {observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2}}`, AnswerFalse, "1/2"},
		{"a DaemonSet rolled out", daemon + `status: {observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2}}`, AnswerTrue, ""},
		{"a StatefulSet half ready", stateful + `status: {observedGeneration: 1, readyReplicas: 1}}`, AnswerFalse, "1/2"},
		{"a StatefulSet half updated", stateful + `status: {observedGeneration: 1, readyReplicas: 2, updatedReplicas: 1}}`, AnswerFalse, "1/2 replicas updated"},
		{"a StatefulSet rolled out", stateful + `status: {observedGeneration: 1, readyReplicas: 2, updatedReplicas: 2}}`, AnswerTrue, ""},
		{"a Job that runs", jobs + `status: {active: 1}}`, AnswerUnknown, "not completed"},
		{"a Job that failed", jobs + `status: {conditions: [{type: Failed, status: "True", message: backoff}]}}`, AnswerFalse, "backoff"},
		{"a Job that is done", jobs + `status: {conditions: [{type: Complete, status: "True"}]}}`, AnswerTrue, ""},
		{"a Namespace being deleted", namespace + `status: {phase: Terminating}}`, AnswerFalse, "Terminating"},
		{"a Namespace", namespace + `status: {phase: Active}}`, AnswerTrue, ""},
		{"an outdated condition", service + `status: {conditions: [{type: Available, status: "True", observedGeneration: 1}]}}`, AnswerUnknown, "outdated"},
		{"conditions that are no list", service + `status: {conditions: {a: b}}}`, AnswerUnknown, ""},
		{"a condition that is no map", service + `status: {conditions: [text]}}`, AnswerUnknown, ""},
		{"a kind with nothing to wait for", `{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}`, AnswerTrue, ""},
		{"a Deployment of another group", `{apiVersion: example.com/v1, kind: Deployment, metadata: {name: x}}`, AnswerTrue, ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			p := probe(parse(t, row.object))
			if p.Answer != row.answer || !strings.Contains(p.Message, row.says) {
				t.Errorf("got %d %q, want %d %q", p.Answer, p.Message, row.answer, row.says)
			}
			if (p.Answer == AnswerTrue) != (p.Message == "") {
				t.Errorf("answer %d with message %q", p.Answer, p.Message)
			}
		})
	}
}

func TestProbe_both(t *testing.T) {
	good, bad, blind := passed, failing("bad"), unknown("blind")
	for _, row := range []struct {
		a, b Probe
		want Answer
	}{
		{good, good, AnswerTrue},
		{good, bad, AnswerFalse},
		{bad, good, AnswerFalse},
		{bad, bad, AnswerFalse},
		{blind, good, AnswerUnknown},
		{good, blind, AnswerUnknown},
		{bad, blind, AnswerUnknown},
		{blind, bad, AnswerUnknown},
	} {
		if got := both(row.a, row.b); got.Answer != row.want {
			t.Errorf("both(%v, %v) = %v", row.a, row.b, got)
		}
	}
}
