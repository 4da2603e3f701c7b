package compatibility

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/utils/ptr"
)

// clientsOf are the annotations of a configuration, and how an API server reaches its first webhook.
func clientsOf(t *testing.T, p *Phases, c *configuration) (map[string]string, admissionregistrationv1.WebhookClientConfig) {
	t.Helper()
	switch o := p.wanted(c, c.stays).(type) {
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		return o.Annotations, o.Webhooks[0].ClientConfig
	case *admissionregistrationv1.MutatingWebhookConfiguration:
		return o.Annotations, o.Webhooks[0].ClientConfig
	}
	t.Fatal("it is of another kind")
	return nil, admissionregistrationv1.WebhookClientConfig{}
}

func TestWanted_names_the_Service_and_asks_for_a_bundle_unless_a_flag_gives_the_address(t *testing.T) {
	for _, c := range []*configuration{
		{kind: "ValidatingWebhookConfiguration", name: "one", blank: &admissionregistrationv1.ValidatingWebhookConfiguration{}},
		{kind: "MutatingWebhookConfiguration", name: "one", blank: &admissionregistrationv1.MutatingWebhookConfiguration{}},
	} {
		c.hooks = []hook{{name: objectsHook, path: "/objects/one/u/1", denies: true}}
		p := &Phases{Namespace: "ops"}
		annotations, reached := clientsOf(t, p, c)
		if annotations["service.beta.openshift.io/inject-cabundle"] != "true" {
			t.Errorf("%s: its annotations are %v", c, annotations)
		}
		want := admissionregistrationv1.ServiceReference{Namespace: "ops", Name: "capstan-webhooks", Path: ptr.To("/objects/one/u/1"), Port: ptr.To[int32](443)}
		if s := reached.Service; reached.URL != nil || s == nil || s.String() != want.String() || len(reached.CABundle) > 0 {
			t.Errorf("%s: it is reached by %s", c, reached.String())
		}

		p.URL, p.CA = "https://127.0.0.1:1", []byte("ca")
		p.trust(c)
		annotations, reached = clientsOf(t, p, c)
		if _, asks := annotations["service.beta.openshift.io/inject-cabundle"]; asks {
			t.Errorf("%s: its annotations are %v by flag", c, annotations)
		}
		if ptr.Deref(reached.URL, "") != "https://127.0.0.1:1/objects/one/u/1" || reached.Service != nil || string(reached.CABundle) != "ca" {
			t.Errorf("%s: it is reached by %s by flag", c, reached.String())
		}
	}
}

func TestWanted_keeps_the_bundle_that_the_service_CA_has_written(t *testing.T) {
	b := newBench(t, needed(t, "Deny"), widgets(), endpoint())
	b.do(KeepHooks)
	b.trusts("one")
	for range 2 {
		b.do(KeepHooks)
		both, err := b.configurationsOf(t.Context(), "one")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range both {
			for name, a := range armaments(c.live) {
				if string(a.ca) != "ca" {
					t.Errorf("%s of %s trusts %q", name, c, a.ca)
				}
			}
		}
	}
}
