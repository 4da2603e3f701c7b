package decide

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func TestReachable_wantsOneEndpointThatIsReady(t *testing.T) {
	slice := `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: s-1}, endpoints: `
	for _, c := range []struct {
		name   string
		slices []string
		answer Answer
	}{
		{"no slice", nil, AnswerFalse},
		{"a slice without endpoints", []string{slice + `[]}`}, AnswerFalse},
		{"one that is not ready", []string{slice + `[{addresses: [10.0.0.1], conditions: {ready: false}}]}`}, AnswerFalse},
		{"one that is ready", []string{slice + `[{addresses: [10.0.0.1], conditions: {ready: true}}]}`}, AnswerTrue},
		{"one that does not say", []string{slice + `[{addresses: [10.0.0.1]}]}`}, AnswerTrue},
		{"one that is ready beside one that is not", []string{slice + `[{conditions: {ready: false}}, {conditions: {ready: true}}]}`}, AnswerTrue},
		{"one that is ready in a second slice", []string{slice + `[{conditions: {ready: false}}]}`, slice + `[{conditions: {ready: true}}]}`}, AnswerTrue},
	} {
		t.Run(c.name, func(t *testing.T) {
			var its []*unstructured.Unstructured
			for _, text := range c.slices {
				its = append(its, content(t, text))
			}
			got := Reachable(types.NamespacedName{Namespace: "n", Name: "s"}, slices.Values(its))
			if got.Answer != c.answer || got.Answer == AnswerFalse && !strings.Contains(got.Message, "Service n/s") {
				t.Errorf("got %v, want %v", got, c.answer)
			}
		})
	}
}

func TestManifest_callsTheServicesOfItsWebhooks(t *testing.T) {
	config := `, metadata: {name: x}, webhooks: [{name: a, clientConfig: {service: {namespace: ns, name: two}}}, {name: b, clientConfig: {url: "https://b"}},
  {name: c, clientConfig: {service: {namespace: ns, name: one}}}, {name: d, clientConfig: {service: {namespace: ns, name: two}}}, {name: e}, 7]}`
	if got := fmt.Sprint(manifestOf(content(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration`+config)).Calls); got != "[ns/one ns/two]" {
		t.Errorf("calls %s", got)
	}
	if got := manifestOf(content(t, `{apiVersion: example.org/v1, kind: MutatingWebhookConfiguration`+config)).Calls; got != nil {
		t.Errorf("another group's calls %v", got)
	}
}
