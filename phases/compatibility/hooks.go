package compatibility

import (
	"bytes"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// timeout is how long the API server waits for an answer, in seconds.
	timeout = 10
	// servicePort is that of the Service.
	servicePort = 443
	injectCA    = "service.beta.openshift.io/inject-cabundle"
)

// hook is one webhook of a configuration, whichever its kind.
type hook struct {
	name, path string
	// denies says that it refuses: its failurePolicy is Fail once it is armed. All others are Ignore.
	denies                         bool
	rules                          []admissionregistrationv1.RuleWithOperations
	namespaceSelector, objSelector metav1.LabelSelector
	conditions                     []admissionregistrationv1.MatchCondition

	policy admissionregistrationv1.FailurePolicyType
	ca     []byte
}

// from is how the API server finds the checker.
func (p *Phases) from(h hook) admissionregistrationv1.WebhookClientConfig {
	if p.URL != "" {
		return admissionregistrationv1.WebhookClientConfig{URL: ptr.To(p.URL + h.path), CABundle: h.ca}
	}
	return admissionregistrationv1.WebhookClientConfig{CABundle: h.ca, Service: &admissionregistrationv1.ServiceReference{
		Namespace: p.Namespace, Name: Service, Path: ptr.To(h.path), Port: ptr.To[int32](servicePort),
	}}
}

func (p *Phases) validating(h hook) admissionregistrationv1.ValidatingWebhook {
	return admissionregistrationv1.ValidatingWebhook{
		Name: h.name, ClientConfig: p.from(h), Rules: h.rules, FailurePolicy: &h.policy, MatchPolicy: ptr.To(admissionregistrationv1.Equivalent),
		NamespaceSelector: &h.namespaceSelector, ObjectSelector: &h.objSelector, SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone),
		TimeoutSeconds: ptr.To[int32](timeout), AdmissionReviewVersions: []string{"v1"}, MatchConditions: h.conditions,
	}
}

func (p *Phases) mutating(h hook) admissionregistrationv1.MutatingWebhook {
	return admissionregistrationv1.MutatingWebhook{
		Name: h.name, ClientConfig: p.from(h), Rules: h.rules, FailurePolicy: &h.policy, MatchPolicy: ptr.To(admissionregistrationv1.Equivalent),
		NamespaceSelector: &h.namespaceSelector, ObjectSelector: &h.objSelector, SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone),
		TimeoutSeconds: ptr.To[int32](timeout), AdmissionReviewVersions: []string{"v1"}, MatchConditions: h.conditions,
		ReinvocationPolicy: ptr.To(admissionregistrationv1.IfNeededReinvocationPolicy),
	}
}

// armament is what stands in a live webhook and is kept: whether it refuses without an answer, and whom the API server trusts.
type armament struct {
	policy admissionregistrationv1.FailurePolicyType
	ca     []byte
}

// armaments are those of a configuration, by the names of its webhooks.
func armaments(of client.Object) map[string]armament {
	by := map[string]armament{}
	switch live := of.(type) {
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		for _, h := range live.Webhooks {
			by[h.Name] = armament{ptr.Deref(h.FailurePolicy, admissionregistrationv1.Fail), h.ClientConfig.CABundle}
		}
	case *admissionregistrationv1.MutatingWebhookConfiguration:
		for _, h := range live.Webhooks {
			by[h.Name] = armament{ptr.Deref(h.FailurePolicy, admissionregistrationv1.Fail), h.ClientConfig.CABundle}
		}
	}
	return by
}

// configuration is a webhook configuration as it is and as it is wanted.
type configuration struct {
	// kind and name tell people which it is.
	kind, name string
	// live is nil if there is none; blank is an empty one.
	live, blank client.Object
	// foreign says that the live one is not the requirement's own: somebody else's, or what all requirements share.
	foreign bool
	// hooks are the wanted ones; without any, the configuration is not wanted. owner is who takes it along when it goes.
	hooks []hook
	owner *metav1.OwnerReference
}

func (c *configuration) String() string { return c.kind + " " + c.name }

// wanted is the configuration with its hooks, each armed as arm says; what is there and is not ours to say stays.
func (p *Phases) wanted(c *configuration, arm func(hook) admissionregistrationv1.FailurePolicyType) client.Object {
	var object client.Object
	if c.live != nil {
		object, _ = c.live.DeepCopyObject().(client.Object)
	} else {
		object, _ = c.blank.DeepCopyObject().(client.Object)
		object.SetName(c.name)
	}
	object.SetLabels(with(object.GetLabels(), CheckerLabel, "true"))
	object.SetAnnotations(with(object.GetAnnotations(), injectCA, "true"))
	if p.URL != "" {
		annotations := object.GetAnnotations()
		delete(annotations, injectCA)
		object.SetAnnotations(annotations)
	}
	if c.owner != nil {
		owners := slices.DeleteFunc(object.GetOwnerReferences(), func(o metav1.OwnerReference) bool {
			return o.Kind == c.owner.Kind && o.APIVersion == c.owner.APIVersion
		})
		object.SetOwnerReferences(append(owners, *c.owner))
	}
	hooks := slices.Clone(c.hooks)
	for i := range hooks {
		hooks[i].policy = arm(hooks[i])
	}
	switch to := object.(type) {
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		to.Webhooks = nil
		for _, h := range hooks {
			to.Webhooks = append(to.Webhooks, p.validating(h))
		}
	case *admissionregistrationv1.MutatingWebhookConfiguration:
		to.Webhooks = nil
		for _, h := range hooks {
			to.Webhooks = append(to.Webhooks, p.mutating(h))
		}
	}
	return object
}

// trust gives each wanted hook the CA bundle that it has, or that the others of the configuration have: a new one beside
// them is answered by the same checker.
func (p *Phases) trust(c *configuration) {
	by := armaments(c.live)
	var other []byte
	for _, a := range by {
		if len(a.ca) > 0 && (other == nil || bytes.Compare(a.ca, other) < 0) {
			other = a.ca
		}
	}
	for i := range c.hooks {
		h := &c.hooks[i]
		if h.ca = by[h.name].ca; len(h.ca) == 0 {
			h.ca = other
		}
		if len(p.CA) > 0 {
			h.ca = p.CA
		}
	}
}

// stays is the policy that a live webhook has, and Ignore for a new one.
func (c *configuration) stays(h hook) admissionregistrationv1.FailurePolicyType {
	if a, is := armaments(c.live)[h.name]; is {
		return a.policy
	}
	return admissionregistrationv1.Ignore
}

// asWanted says that all but the arming is as it should be.
func (p *Phases) asWanted(c *configuration) bool {
	return c.live != nil && same(c.live, p.wanted(c, c.stays))
}

func same(a, b client.Object) bool { return equality.Semantic.DeepEqual(a, b) }

func with(all map[string]string, key, value string) map[string]string {
	if all == nil {
		all = map[string]string{}
	}
	all[key] = value
	return all
}
