package packaging

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// limitWebhooks restricts a provider's admission webhooks to Namespace, in
// addition to what the provider selects itself.
func limitWebhooks(objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if !isWebhookConfiguration(object) {
			continue
		}
		webhooks, err := root(object).children("webhooks")
		if err != nil {
			return err
		}
		for _, webhook := range webhooks {
			if err := limitWebhook(webhook); err != nil {
				return err
			}
		}
	}
	return nil
}

// namespaceName is the label by which every namespace can be selected.
const namespaceName = "kubernetes.io/metadata.name"

func limitWebhook(webhook node) error {
	selector, err := webhook.ensure("namespaceSelector")
	if err != nil {
		return err
	}
	labels, _, err := selector.child("matchLabels")
	if err != nil || labels.fields[namespaceName] == Namespace {
		return err
	}
	expressions, err := selector.list("matchExpressions")
	if err != nil {
		return err
	}
	limit := map[string]any{
		"key":      namespaceName,
		"operator": "In",
		"values":   []any{Namespace},
	}
	for _, expression := range expressions {
		if reflect.DeepEqual(expression, limit) {
			return nil
		}
	}
	selector.fields["matchExpressions"] = append(expressions, limit)
	return nil
}

// clientConfigs returns the mappings of an object that say where a webhook is served.
func clientConfigs(object *unstructured.Unstructured) ([]node, error) {
	var holders []node
	switch {
	case isWebhookConfiguration(object):
		webhooks, err := root(object).children("webhooks")
		if err != nil {
			return nil, err
		}
		holders = webhooks
	case isCRD(object):
		conversion, found, err := root(object).child("spec.conversion.webhook")
		if err != nil || !found {
			return nil, err
		}
		holders = []node{conversion}
	}
	var clients []node
	for _, holder := range holders {
		client, found, err := holder.child("clientConfig")
		if err != nil {
			return nil, err
		}
		if found {
			clients = append(clients, client)
		}
	}
	return clients, nil
}
