package decide

import (
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
)

func TestGates(t *testing.T) {
	const (
		crd       = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x}, `
		dep       = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, generation: 2}, spec: {replicas: 2}, `
		daemon    = `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: x, generation: 2}, `
		stateful  = `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: x, generation: 1}, spec: {replicas: 2}, `
		jobs      = `{apiVersion: batch/v1, kind: Job, metadata: {name: x}, `
		claim     = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: x}, `
		webhook   = `{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: x`
		asks      = `, annotations: {service.beta.openshift.io/inject-cabundle: "true"}`
		policies  = `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: x, generation: 2}, `
		own       = `{apiVersion: g/v1, kind: Thing, metadata: {name: x, annotations: {capi-operator.openshift.io/complete-when: "self.status.phase == 'Ready'"}}, `
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
		{"a CRD in service by other names", crd + `spec: {names: {kind: X, shortNames: [x, y]}}, status: {acceptedNames: {kind: X, shortNames: [x]}, conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "True"}]}}`, AnswerUnknown, "shortNames"},
		{"a CRD in service by these names", crd + `spec: {names: {kind: X, shortNames: [x], categories: []}}, status: {acceptedNames: {kind: X, shortNames: [x]}, conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "True"}]}}`, AnswerTrue, ""},
		{"a Deployment without status", dep + `}`, AnswerUnknown, "observedGeneration"},
		{"a Deployment whose status is old", dep + `status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2, conditions: [{type: Available, status: "True"}]}}`, AnswerUnknown, "generation 2"},
		{"a Deployment whose old pods are available", dep + `status: {observedGeneration: 2, replicas: 2, updatedReplicas: 1, availableReplicas: 2, conditions: [{type: Available, status: "True"}]}}`, AnswerFalse, "1/2 replicas updated"},
		{"a Deployment with old pods left", dep + `status: {observedGeneration: 2, replicas: 3, updatedReplicas: 2, availableReplicas: 2, conditions: [{type: Available, status: "True"}]}}`, AnswerFalse, "1 old replicas"},
		{"a Deployment whose new pods do not start", dep + `status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, conditions: [{type: Available, status: "False"}]}}`, AnswerFalse, "0/2 updated replicas available"},
		{"a Deployment over its deadline", dep + `status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2, conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: too slow}]}}`, AnswerFalse, "too slow"},
		{"a Deployment without Available", dep + `status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}`, AnswerUnknown, "Available"},
		{"a Deployment at work", dep + `status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2, conditions: [{type: Available, status: "True"}]}}`, AnswerTrue, ""},
		{"a Deployment of nothing", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1, conditions: [{type: Available, status: "True"}]}}`, AnswerTrue, ""},
		{"a Deployment that is paused", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, generation: 1}, spec: {paused: true}, status: {observedGeneration: 1, replicas: 1}}`, AnswerFalse, "0/1 replicas updated, it is paused; resume it"},
		{"a DaemonSet not yet seen", daemon + `status: {observedGeneration: 1}}`, AnswerUnknown, ""},
		{"a DaemonSet half rolled out", daemon + `status: {observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2}}`, AnswerFalse, "1/2"},
		{"a DaemonSet rolled out", daemon + `status: {observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2}}`, AnswerTrue, ""},
		{"a StatefulSet half ready", stateful + `status: {observedGeneration: 1, readyReplicas: 1}}`, AnswerFalse, "1/2"},
		{"a StatefulSet half updated", stateful + `status: {observedGeneration: 1, readyReplicas: 2, updatedReplicas: 1}}`, AnswerFalse, "1/2 replicas updated"},
		{"a StatefulSet between two revisions", stateful + `status: {observedGeneration: 1, readyReplicas: 2, updatedReplicas: 2, currentRevision: a, updateRevision: b}}`, AnswerFalse, "currentRevision"},
		{"a StatefulSet rolled out", stateful + `status: {observedGeneration: 1, readyReplicas: 2, updatedReplicas: 2, currentRevision: b, updateRevision: b}}`, AnswerTrue, ""},
		{"a StatefulSet rolled out down to its partition", `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: x, generation: 1}, spec: {replicas: 2, updateStrategy: {rollingUpdate: {partition: 1}}}, status: {observedGeneration: 1, readyReplicas: 2, updatedReplicas: 1, currentRevision: a, updateRevision: b}}`, AnswerTrue, ""},
		{"a StatefulSet that others roll out", `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: x, generation: 1}, spec: {replicas: 2, updateStrategy: {type: OnDelete}}, status: {observedGeneration: 1, readyReplicas: 2}}`, AnswerTrue, ""},
		{"a claim without status", claim + `}`, AnswerUnknown, "status.phase"},
		{"a claim without volume", claim + `status: {phase: Pending}}`, AnswerFalse, `"Pending"`},
		{"a claim with its volume", claim + `status: {phase: Bound}}`, AnswerTrue, ""},
		{"a webhook that asked nobody for a CA bundle", webhook + `}, webhooks: [{name: a, clientConfig: {service: {namespace: ns, name: s}}}]}`, AnswerUnknown, "webhook a has no CA bundle, without which the API server cannot call Service ns/s; let its manifest have one"},
		{"a webhook whose server the API server's own system may trust", webhook + `}, webhooks: [{name: a, clientConfig: {url: "https://a"}}]}`, AnswerTrue, ""},
		{"a webhook with a URL that waits for its CA bundle", webhook + asks + `}, webhooks: [{name: a, clientConfig: {url: "https://a"}}]}`, AnswerUnknown, "webhook a has no CA bundle yet"},
		{"a webhook that waits for its CA bundle", webhook + asks + `}, webhooks: [{name: a, clientConfig: {caBundle: eA==}}, {name: b, clientConfig: {}}]}`, AnswerUnknown, "webhook b"},
		{"a webhook with its CA bundle", webhook + asks + `}, webhooks: [{name: a, clientConfig: {caBundle: eA==}}]}`, AnswerTrue, ""},
		{"an admission policy that nobody checked", policies + `}`, AnswerTrue, ""},
		{"an admission policy whose check is old", policies + `status: {observedGeneration: 1, typeChecking: {expressionWarnings: [{fieldRef: spec.x, warning: no field}]}}}`, AnswerTrue, ""},
		{"an admission policy with types that do not fit", policies + `status: {observedGeneration: 2, typeChecking: {expressionWarnings: [{fieldRef: spec.x, warning: no field}]}}}`, AnswerTrue, "spec.x: no field; repair them in the provider image"},
		{"an admission policy that was checked", policies + `status: {observedGeneration: 2, typeChecking: {}}}`, AnswerTrue, ""},
		{"a condition of the manifest's own that holds", own + `status: {phase: Ready}}`, AnswerTrue, ""},
		{"a condition of the manifest's own that does not hold", own + `status: {phase: Pending}}`, AnswerFalse, "is not true"},
		{"a condition of the manifest's own that cannot be told", own + `}`, AnswerUnknown, "no such key"},
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
			obj := objects.Parse(t, row.object)
			ask, err := gateOf(obj)
			if err != nil {
				t.Fatal(err)
			}
			p := ask(obj)
			if p.Answer != row.answer || !strings.Contains(p.Message, row.says) {
				t.Errorf("got %d %q, want %d %q", p.Answer, p.Message, row.answer, row.says)
			}
			if (p.Answer == AnswerTrue && row.says == "") != (p.Message == "") {
				t.Errorf("answer %d with message %q", p.Answer, p.Message)
			}
		})
	}
}

func TestGates_a_workload_that_is_scaled_to_zero_names_who_did_it(t *testing.T) {
	for _, kind := range []string{"Deployment", "StatefulSet"} {
		manifest := objects.Parse(t, `{apiVersion: apps/v1, kind: `+kind+`, metadata: {name: x}, spec: {}}`)
		ask, err := gateOf(manifest)
		if err != nil {
			t.Fatal(err)
		}
		actual := objects.Parse(t, `{apiVersion: apps/v1, kind: `+kind+`, metadata: {name: x, generation: 1}, spec: {replicas: 0},
			status: {observedGeneration: 1, currentRevision: a, updateRevision: a, conditions: [{type: Available, status: "True"}]}}`)
		if p := ask(actual); p.Answer != AnswerFalse || p.Message != "scaled to zero; scale it up, or let the manifest say 0" {
			t.Errorf("%s: %d %q", kind, p.Answer, p.Message)
		}
		entryOf("kubectl", "Update", `{"f:spec":{"f:replicas":{}}}`)(actual)
		if p := ask(actual); p.Message != "scaled to zero by field manager kubectl; scale it up, or let the manifest say 0" {
			t.Errorf("%s: %q", kind, p.Message)
		}
	}
}
