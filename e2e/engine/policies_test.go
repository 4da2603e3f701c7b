package engine_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deny has an admission policy refuse objects of the world for which an expression is false, and returns when it refuses
// one; what it returns ends that. The resource is plural, with its group: "apps/deployments".
func (w *world) deny(ctx context.Context, resource, operation, expression string, refused *unstructured.Unstructured) (lift func()) {
	GinkgoHelper()
	spec := map[string]any{"validations": []any{map[string]any{"expression": expression, "message": "nobody may have it"}}}
	return w.admit(ctx, "ValidatingAdmissionPolicy", resource, operation, "{validationActions: [Deny]}", spec, func(ctx context.Context) (bool, error) {
		err := w.client.Create(ctx, refused.DeepCopy(), client.DryRunAll)
		if err != nil && strings.Contains(err.Error(), "nobody may have it") {
			return true, nil
		}
		return false, client.IgnoreAlreadyExists(err)
	})
}

// rewrite has an admission policy set a key of every ConfigMap of a world that has it, whenever that is written, and
// returns when it does; what it returns ends that.
func (w *world) rewrite(ctx context.Context, key, value string) (lift func()) {
	GinkgoHelper()
	spec := map[string]any{
		"reinvocationPolicy": "Never",
		"mutations": []any{map[string]any{"patchType": "ApplyConfiguration", "applyConfiguration": map[string]any{
			"expression": fmt.Sprintf("Object{data: {%q: %q}}", key, value),
		}}},
		"matchConditions": []any{map[string]any{"name": "has-key", "expression": fmt.Sprintf("has(object.data) && '%s' in object.data", key)}},
	}
	return w.admit(ctx, "MutatingAdmissionPolicy", "configmaps", "*", "{}", spec, func(ctx context.Context) (bool, error) {
		trial := unnamed(w.configMap("trial", key, "trial"))
		err := w.client.Create(ctx, trial, client.DryRunAll)
		return has(trial, value, "data", key) == nil, err
	})
}

// admit makes an admission policy for the namespace of the world, and what binds it, and waits until it is enforced; what
// it returns waits until it is not any more.
func (w *world) admit(
	ctx context.Context, kind, resource, operation, binding string, spec map[string]any, enforced func(context.Context) (bool, error),
) (lift func()) {
	GinkgoHelper()
	group, plural, grouped := strings.Cut(resource, "/")
	if !grouped {
		group, plural = "", resource
	}
	name := w.name(fmt.Sprintf("policy-%s", strings.ToLower(kind[:1])))
	policy := w.object(fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: %s
metadata: {name: %s}
spec:
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}
    resourceRules: [{apiGroups: ["%s"], apiVersions: [v1], operations: ["%s"], resources: ["%s"]}]
`, kind, name, group, operation, plural))
	for field, value := range spec {
		policy = with(policy, value, "spec", field)
	}
	bound := w.object(fmt.Sprintf(`{apiVersion: admissionregistration.k8s.io/v1, kind: %sBinding, metadata: {name: %s}, spec: %s}`, kind, name, binding))
	bound = with(bound, name, "spec", "policyName")
	w.create(ctx, policy)
	w.create(ctx, bound)
	becomes := func(ctx context.Context, want bool) {
		GinkgoHelper()
		eventually(ctx, "the policy to be enforced, or not any more", func(ctx context.Context) error {
			is, err := enforced(ctx)
			if err == nil && is != want {
				err = fmt.Errorf("it is enforced: %t", is)
			}
			return err
		})
	}
	becomes(ctx, true)
	return func() {
		GinkgoHelper()
		w.delete(ctx, bound)
		w.delete(ctx, policy)
		becomes(ctx, false)
	}
}

// unnamed is a copy of an object that the API server names.
func unnamed(o *unstructured.Unstructured) *unstructured.Unstructured {
	o = o.DeepCopy()
	o.SetGenerateName(o.GetName() + "-")
	o.SetName("")
	return o
}
