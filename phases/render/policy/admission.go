package policy

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const admissionGroup = "admissionregistration.k8s.io/"

var webhookRule = Rule{
	Name: "webhook",
	Doc: "Webhooks are behind a Service in the providers' namespaces, and are asked about Cluster API's groups, or about what is in " +
		"these namespaces.",
	breaches: func(c check) []Breach {
		if !c.is(admissionGroup+"ValidatingWebhookConfiguration", admissionGroup+"MutatingWebhookConfiguration") {
			return nil
		}
		configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{} // the other kind has these fields too
		breaches := c.read(configuration)
		for i, hook := range configuration.Webhooks {
			at, service := fmt.Sprintf("webhooks[%d].", i), ""
			if hook.ClientConfig.Service != nil {
				service = hook.ClientConfig.Service.Namespace
			}
			breaches = append(breaches, c.server(at+"clientConfig", hook.ClientConfig.URL, service)...)
			for j, rule := range hook.Rules {
				if !c.within(rule.Rule, hook.NamespaceSelector) {
					breaches = append(breaches, Breach{Path: fmt.Sprintf("%srules[%d]", at, j), Why: c.wide(rule.APIGroups)})
				}
			}
		}
		return breaches
	},
	expression: func(p *Policy) string {
		return of([]string{admissionGroup + "ValidatingWebhookConfiguration", admissionGroup + "MutatingWebhookConfiguration"}, fill(`object.?webhooks.orValue([]).all(w,
  $served && w.?rules.orValue([]).all(r, $about) ||
  w in variables.stored.?webhooks.orValue([]))`, "$served", p.served("w.clientConfig"), "$about", p.about("r", "w.?namespaceSelector")))
	},
}

var admissionRule = Rule{
	Name: "admission",
	Doc: "Admission policies are about Cluster API's groups, or about what is in the providers' namespaces, and bindings are to policies " +
		"of the same profile.",
	breaches: func(c check) []Breach {
		switch {
		case c.is(admissionGroup+"ValidatingAdmissionPolicy", admissionGroup+"MutatingAdmissionPolicy"):
			policy := &admissionregistrationv1.ValidatingAdmissionPolicy{} // the other kind has these fields too
			return append(c.read(policy), c.constraints(policy.Spec.MatchConstraints)...)
		case c.is(admissionGroup+"ValidatingAdmissionPolicyBinding", admissionGroup+"MutatingAdmissionPolicyBinding"):
			binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}
			breaches := c.read(binding)
			if c.beside[identity{kind: strings.TrimSuffix(c.kind, "Binding"), name: binding.Spec.PolicyName}] {
				return breaches
			}
			return append(breaches, Breach{Path: "spec.policyName", Why: fmt.Sprintf("policy %s is not among the objects of this profile", binding.Spec.PolicyName)})
		}
		return nil
	},
}

// constraints judges what an admission policy is about.
func (c check) constraints(m *admissionregistrationv1.MatchResources) (breaches []Breach) {
	if m == nil || len(m.ResourceRules) == 0 {
		return []Breach{{Path: "spec.matchConstraints", Why: "it must say by resourceRules what the policy is about"}}
	}
	for i, rule := range m.ResourceRules {
		if !c.within(rule.Rule, m.NamespaceSelector) {
			breaches = append(breaches, Breach{Path: fmt.Sprintf("spec.matchConstraints.resourceRules[%d]", i), Why: c.wide(rule.APIGroups)})
		}
	}
	return breaches
}

// server judges who answers for a webhook.
func (c check) server(path string, url *string, serviceNamespace string) []Breach {
	switch {
	case url != nil:
		return []Breach{{Path: path + ".url", Why: "who answers there is not part of the cluster: use a Service"}}
	case !c.inProviders(serviceNamespace):
		return []Breach{{Path: path + ".service", Why: fmt.Sprintf("it must be in the providers' namespaces, which are %s", c.theNamespaces())}}
	}
	return nil
}

// within says that a rule is about Cluster API's groups, or that its namespaces are the providers'. A selector of namespaces
// says nothing of objects without one.
func (c check) within(rule admissionregistrationv1.Rule, selector *metav1.LabelSelector) bool {
	if all(rule.APIGroups, IsClusterAPI) {
		return true
	}
	return rule.Scope != nil && *rule.Scope == admissionregistrationv1.NamespacedScope && c.selects(selector)
}

// selects says that a selector takes no namespace but the providers'. One that the profile brings does not count: an API
// server could not tell it from anybody's.
func (c check) selects(s *metav1.LabelSelector) bool {
	if s == nil {
		return false
	}
	inProviders := func(name string) bool { return slices.Contains(c.Namespaces, name) }
	if name, given := s.MatchLabels[corev1.LabelMetadataName]; given && inProviders(name) {
		return true
	}
	return slices.ContainsFunc(s.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
		return r.Key == corev1.LabelMetadataName && r.Operator == metav1.LabelSelectorOpIn && all(r.Values, inProviders)
	})
}

func (c check) wide(groups []string) string {
	return fmt.Sprintf("groups %q are not Cluster API's alone, and it is not limited to namespaced objects (scope: Namespaced) in the providers' namespaces, which are %s, by a namespaceSelector on %s",
		groups, strings.Join(c.Namespaces, ", "), corev1.LabelMetadataName)
}
