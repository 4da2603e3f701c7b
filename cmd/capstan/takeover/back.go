package takeover

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/cmd/capstan/disarm"
	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/deploy"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// goBack are the kinds of what goes on the way back, in its order: the walls before the rights of who stands behind them. What
// is not here stays: namespaces, ClusterAPI, ClusterOperator and ConfigMaps are the former installer's as well.
var goBack = []schema.GroupVersionResource{
	admissionregistrationv1.SchemeGroupVersion.WithResource("validatingadmissionpolicybindings"),
	admissionregistrationv1.SchemeGroupVersion.WithResource("validatingadmissionpolicies"),
	{Group: "monitoring.coreos.com", Version: "v1", Resource: "prometheusrules"},
	serviceMonitors,
	corev1.SchemeGroupVersion.WithResource("services"),
	networkingv1.SchemeGroupVersion.WithResource("networkpolicies"),
	policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets"),
	rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings"),
	rbacv1.SchemeGroupVersion.WithResource("rolebindings"),
	rbacv1.SchemeGroupVersion.WithResource("clusterroles"),
	rbacv1.SchemeGroupVersion.WithResource("roles"),
	corev1.SchemeGroupVersion.WithResource("serviceaccounts"),
}

// webhookConfigurations are the kinds that have API servers ask somebody.
var webhookConfigurations = []schema.GroupVersionResource{
	admissionregistrationv1.SchemeGroupVersion.WithResource("validatingwebhookconfigurations"),
	admissionregistrationv1.SchemeGroupVersion.WithResource("mutatingwebhookconfigurations"),
}

// brought are the objects that deploy brings and that go on the way back.
func (c *Cluster) brought() ([]object, error) {
	shipped, err := deploy.Objects()
	if err != nil {
		return nil, err
	}
	namespaces := map[string]string{"openshift-cluster-api-operator": c.namespace, "openshift-cluster-api": c.capiNamespace}
	var all []object
	for _, resource := range goBack {
		for _, o := range shipped {
			if is, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind()); is != resource {
				continue
			}
			namespace := o.GetNamespace()
			if ours, is := namespaces[namespace]; is {
				namespace = ours
			}
			all = append(all, object{resource, o.GetKind(), namespace, o.GetName()})
		}
	}
	return all, nil
}

// checker is what Capstan's checker of definitions leaves: first what has API servers ask it, which nobody would take back once
// the operator has stopped.
func (c *Cluster) checker(ctx context.Context) ([]object, error) {
	var all []object
	for _, resource := range webhookConfigurations {
		list, err := c.dynamic.Resource(resource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, inspect.Explain(err, c.host, "list", resource.Resource)
		}
		for i := range list.Items {
			if found := &list.Items[i]; disarm.IsCheckers(found) {
				all = append(all, object{resource, found.GetKind(), "", found.GetName()})
			}
		}
	}
	for _, name := range []string{operator + "-webhooks", operator + "-webhooks-2"} {
		all = append(all, object{deployments, "Deployment", c.namespace, name})
	}
	return all, nil
}

// PlanBack says what makes room for the former installer: Capstan stops, and all goes that would keep the former installer
// from working. What is installed stays as it is.
func (c *Cluster) PlanBack(ctx context.Context, override bool) (Plan, error) {
	p := Plan{Back: true}
	version, err := c.clusterVersion(ctx)
	if err != nil {
		return p, err
	}
	// A release has one installer: where the former one is of the release, nobody puts Capstan back.
	former := object{deployments, "Deployment", c.namespace, phases.FormerInstallers[0]}
	found, err := c.get(ctx, former)
	if err != nil {
		return p, err
	}
	ofFormer := found != nil && keptByCVO(found) && !overridden(version, former)
	brought, err := c.brought()
	if err != nil {
		return p, err
	}
	var overrides, steps []Step
	checker, err := c.checker(ctx)
	if err != nil {
		return p, err
	}
	for _, o := range slices.Concat([]object{{deployments, "Deployment", c.namespace, operator}}, checker, brought) {
		found, err := c.get(ctx, o)
		if err != nil {
			return p, err
		}
		if found == nil {
			continue
		}
		if keptByCVO(found) && !ofFormer && !overridden(version, o) {
			p.NeedsOverride = append(p.NeedsOverride, o.String())
			overrides = append(overrides, Step{Do: Override, Object: o.String(), of: o, Why: whyOverride})
		}
		steps = append(steps, Step{Do: Delete, Object: o.String(), of: o, uid: string(found.GetUID()), Why: whyBack(o)})
		if o.resource == deployments && o.name == operator {
			lease := object{leases, "Lease", c.namespace, operator + "-leader"}
			steps = append(steps, Step{Do: Wait, Object: lease.String(), of: lease, Why: "nobody may hold it when the next steps are made"})
		}
	}
	list := object{configMaps, "ConfigMap", c.namespace, phases.ImagesConfigMap}
	if found, err = c.get(ctx, list); err != nil {
		return p, err
	}
	if found != nil && slices.ContainsFunc(listAnnotations, func(a string) bool { return found.GetAnnotations()[a] != "" }) {
		steps = append(steps, Step{Do: Clear, Object: list.String(), of: list, Why: "its annotations name a release of Capstan's, and the cluster-version operator takes no annotation away"})
	}
	p.Steps = append([]Step{}, slices.Concat(overrides, steps)...) // none is told as none
	if override {
		p.NeedsOverride = nil
	}
	return p, nil
}

func whyBack(o object) string {
	switch {
	case slices.Contains(webhookConfigurations, o.resource), o.resource == deployments && o.name != operator:
		return "API servers would go on asking Capstan's checker, after which nobody looks any more"
	case o.resource == deployments:
		return "Capstan stops; what it has installed stays"
	case o.resource.Group == admissionregistrationv1.GroupName:
		return "it keeps everybody but Capstan from what the former installer writes"
	case o.resource.Group == networkingv1.GroupName:
		return "it would close the namespace to what the former installer needs"
	case o.kind == "PrometheusRule":
		return "it would tell for ever that Capstan is absent"
	}
	return "it is Capstan's, and nobody uses it any more"
}

// listAnnotations are those of the list of images that only Capstan knows.
var listAnnotations = []string{phases.ReleaseAnnotation, phases.KeysAnnotation}

// unmark takes Capstan's annotations off the list of images.
func (c *Cluster) unmark(ctx context.Context, o object) error {
	gone := map[string]any{}
	for _, annotation := range listAnnotations {
		gone[annotation] = nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": gone}})
	if err != nil {
		return fmt.Errorf("writing a patch: %w", err)
	}
	_, err = c.dynamic.Resource(o.resource).Namespace(o.namespace).Patch(ctx, o.name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	return inspect.Explain(err, c.host, "patch", o.String())
}
