package kube

import (
	"context"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

var definitions = phases.Kind{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions", Kind: "CustomResourceDefinition", Versions: []string{"v1"}}

// Unserved says which webhooks and conversions of Cluster API's kinds are served in a namespace whose components are drained, and which
// private kinds have a conversion that nobody answers.
func (c *Client) Unserved(ctx context.Context, namespace string) ([]string, error) {
	served, err := c.servedIn(ctx, namespace)
	if err != nil {
		return nil, err
	}
	all, err := c.List(ctx, definitions, "", "")
	if err != nil {
		return nil, fmt.Errorf("listing definitions: %w", err)
	}
	asked := map[string]bool{}
	for _, definition := range all {
		group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
		in, _, _ := unstructured.NestedString(definition.Object, "spec", "conversion", "webhook", "clientConfig", "service", "namespace")
		name, _, _ := unstructured.NestedString(definition.Object, "spec", "conversion", "webhook", "clientConfig", "service", "name")
		side := phases.SideOf(group)
		if side != "" && name != "" && in == namespace {
			served = append(served, fmt.Sprintf("%s is converted by Service %s/%s, which is drained", definition.GetName(), in, name))
			continue
		}
		if side != phases.Private || name == "" || asked[in+"/"+name] {
			continue
		}
		asked[in+"/"+name] = true
		ready, err := c.isReady(ctx, in, name)
		if err != nil {
			return nil, err
		}
		if !ready {
			served = append(served, fmt.Sprintf("Service %s/%s, which converts %s, has no ready endpoint", in, name, definition.GetName()))
		}
	}
	return served, nil
}

// servedIn names the webhooks of Cluster API's kinds that a Service of a namespace serves.
func (c *Client) servedIn(ctx context.Context, namespace string) ([]string, error) {
	validating, err := c.typed.AdmissionregistrationV1().ValidatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing ValidatingWebhookConfigurations: %w", err)
	}
	mutating, err := c.typed.AdmissionregistrationV1().MutatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing MutatingWebhookConfigurations: %w", err)
	}
	var found []string
	note := func(name string, by admissionregistrationv1.WebhookClientConfig, rules []admissionregistrationv1.RuleWithOperations) {
		if by.Service != nil && by.Service.Namespace == namespace && slices.ContainsFunc(rules, ofClusterAPI) {
			found = append(found, "webhook "+name+" is served by what is drained")
		}
	}
	for i := range validating.Items {
		for _, hook := range validating.Items[i].Webhooks {
			note(hook.Name, hook.ClientConfig, hook.Rules)
		}
	}
	for i := range mutating.Items {
		for _, hook := range mutating.Items[i].Webhooks {
			note(hook.Name, hook.ClientConfig, hook.Rules)
		}
	}
	return found, nil
}

func ofClusterAPI(rule admissionregistrationv1.RuleWithOperations) bool {
	return slices.ContainsFunc(rule.APIGroups, func(group string) bool { return group == "*" || phases.SideOf(group) != "" })
}

// isReady says that somebody answers for a Service.
func (c *Client) isReady(ctx context.Context, namespace, name string) (bool, error) {
	endpoints, err := c.typed.DiscoveryV1().EndpointSlices(namespace).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + name})
	if err != nil {
		return false, fmt.Errorf("listing the endpoints of Service %s/%s: %w", namespace, name, err)
	}
	for i := range endpoints.Items {
		for _, endpoint := range endpoints.Items[i].Endpoints {
			if endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready {
				return true, nil
			}
		}
	}
	return false, nil
}
