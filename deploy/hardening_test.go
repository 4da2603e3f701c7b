package deploy_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/capstan-capi/capstan/deploy/deploytest"
)

func TestTheImageIsNamedByItsContent(t *testing.T) {
	data, err := os.ReadFile("kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if text := string(data); !strings.Contains(text, "digest: sha256:") || strings.Contains(text, "newTag") {
		t.Error("kustomization.yaml names the operator's image by a tag, behind which the content may change")
	}
}

func TestTheBudgetIsForThePodsOfTheDeployment(t *testing.T) {
	deployment, budget := deploytest.First[appsv1.Deployment](t, objects(t), "Deployment"), deploytest.First[policyv1.PodDisruptionBudget](t, objects(t), "PodDisruptionBudget")
	if *deployment.Spec.Replicas != 2 {
		t.Errorf("%d replicas", *deployment.Spec.Replicas)
	}
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	if err != nil || !selector.Matches(labels.Set(deployment.Spec.Template.Labels)) {
		t.Errorf("the budget selects %v: %v", selector, err)
	}
	if budget.Spec.MaxUnavailable.IntValue() != 1 {
		t.Error("no node could be emptied, or all of them at once")
	}
}

func TestTheProxysCertificatesAreWhereTheOperatorLooksForThem(t *testing.T) {
	pod := deploytest.First[appsv1.Deployment](t, objects(t), "Deployment").Spec.Template.Spec
	const name = "trusted-ca"
	for _, volume := range pod.Volumes {
		if volume.Name == name && (volume.ConfigMap.Name != "capstan-trusted-ca" || !*volume.ConfigMap.Optional) {
			t.Errorf("the volume is %v", volume)
		}
	}
	for _, mount := range pod.Containers[0].VolumeMounts {
		if mount.Name == name && !slices.Contains(pod.Containers[0].Args, "--extra-ca-file="+mount.MountPath+"/ca-bundle.crt") {
			t.Errorf("they are mounted at %s: %v", mount.MountPath, pod.Containers[0].Args)
		}
	}
	for _, object := range objects(t) {
		if object.GetName() == "capstan-trusted-ca" && object.GetLabels()["config.openshift.io/inject-trusted-cabundle"] != "true" {
			t.Error("nobody fills the ConfigMap")
		}
	}
}

func TestPrometheusFindsTheMetricsWhereTheyAreServed(t *testing.T) {
	for deployment, flag := range map[string]string{"capstan": "--metrics-bind-address", "capstan-webhooks": "--metrics-address"} {
		t.Run(deployment, func(t *testing.T) { findsMetrics(t, deployment, flag) })
	}
}

func findsMetrics(t *testing.T, name, flag string) {
	t.Helper()
	var pod corev1.PodTemplateSpec
	var service *corev1.Service
	role, monitor := &rbacv1.Role{}, &unstructured.Unstructured{}
	for _, object := range objects(t) {
		switch kind, ours := object.GetKind(), object.GetLabels()["app.kubernetes.io/name"] == name; {
		case kind == "ServiceMonitor" && ours:
			monitor = object
		case kind == "Service" && ours:
			service = deploytest.As[corev1.Service](t, object)
		case kind == "Deployment" && ours:
			pod = deploytest.As[appsv1.Deployment](t, object).Spec.Template
		case kind == "Role" && object.GetName() == "prometheus-k8s":
			role = deploytest.As[rbacv1.Role](t, object)
		}
	}
	ports := map[string]int32{}
	for _, port := range pod.Spec.Containers[0].Ports {
		ports[port.Name] = port.ContainerPort
	}
	at := service.Spec.Ports[slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == "metrics" })]
	if ports[at.TargetPort.StrVal] != at.Port || !slices.Contains(pod.Spec.Containers[0].Args, fmt.Sprintf("%s=:%d", flag, at.Port)) {
		t.Errorf("the Service leads to %v, the pod has %v and %v", at, ports, pod.Spec.Containers[0].Args)
	}
	if !labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(pod.Labels)) {
		t.Errorf("the Service selects %v", service.Spec.Selector)
	}
	certificate := service.Annotations["service.beta.openshift.io/serving-cert-secret-name"]
	if !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Secret != nil && v.Secret.SecretName == certificate }) {
		t.Errorf("nothing mounts the certificate %q", certificate)
	}
	selected, _, _ := unstructured.NestedStringMap(monitor.Object, "spec", "selector", "matchLabels")
	endpoints, _, _ := unstructured.NestedSlice(monitor.Object, "spec", "endpoints")
	if !labels.SelectorFromSet(selected).Matches(labels.Set(service.Labels)) || len(endpoints) != 1 {
		t.Fatalf("the monitor selects %v and has %v", selected, endpoints)
	}
	endpoint, _ := endpoints[0].(map[string]any)
	tls, _ := endpoint["tlsConfig"].(map[string]any)
	if endpoint["port"] != at.Name || endpoint["scheme"] != "https" || tls["serverName"] != service.Name+"."+service.Namespace+".svc" ||
		tls["caFile"] == nil || tls["certFile"] == nil || tls["insecureSkipVerify"] != nil {
		t.Errorf("the monitor's endpoint is %v", endpoint)
	}
	for _, resource := range []string{"endpoints", "pods", "services", "endpointslices"} {
		if !slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
			return slices.Contains(r.Resources, resource) && slices.Contains(r.Verbs, "watch")
		}) {
			t.Errorf("Prometheus may not watch %s", resource)
		}
	}
}

func TestTheCheckerIsReachedByItsServiceAndOneOfItIsLeft(t *testing.T) {
	var service *corev1.Service
	var deployment *appsv1.Deployment
	var budget *policyv1.PodDisruptionBudget
	for _, object := range objects(t) {
		if object.GetName() != "capstan-webhooks" {
			continue
		}
		switch object.GetKind() {
		case "Service":
			service = deploytest.As[corev1.Service](t, object)
		case "Deployment":
			deployment = deploytest.As[appsv1.Deployment](t, object)
		case "PodDisruptionBudget":
			budget = deploytest.As[policyv1.PodDisruptionBudget](t, object)
		case "ClusterRole":
			for _, rule := range deploytest.As[rbacv1.ClusterRole](t, object).Rules {
				for _, verb := range rule.Verbs {
					if !slices.Contains([]string{"get", "list", "watch"}, verb) && !slices.Equal(rule.Resources, []string{"tokenreviews"}) && !slices.Equal(rule.Resources, []string{"subjectaccessreviews"}) {
						t.Errorf("the checker may %s %v", verb, rule.Resources)
					}
				}
			}
		}
	}
	pods := labels.Set(deployment.Spec.Template.Labels)
	if !labels.SelectorFromSet(service.Spec.Selector).Matches(pods) || service.Spec.Ports[0].Port != 443 || service.Spec.Ports[0].TargetPort.StrVal != "webhooks" {
		t.Errorf("the Service is %+v", service.Spec)
	}
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	if err != nil || !selector.Matches(pods) || budget.Spec.MinAvailable.IntValue() != 1 || *deployment.Spec.Replicas != 2 {
		t.Errorf("%d replicas, and the budget is %+v: %v", *deployment.Spec.Replicas, budget.Spec, err)
	}
	if deployment.Spec.Strategy.RollingUpdate.MaxUnavailable.IntValue() != 0 {
		t.Error("a rolling restart may leave nobody to answer")
	}
	if deployment.Spec.Template.Spec.ServiceAccountName != "capstan-webhooks" {
		t.Error("the checker has the operator's rights")
	}
}

func TestTheCheckersPortsPassThePolicies(t *testing.T) {
	pods := labels.Set{}
	for _, object := range objects(t) {
		if object.GetKind() == "Deployment" && object.GetName() == "capstan-webhooks" {
			pods = deploytest.As[appsv1.Deployment](t, object).Spec.Template.Labels
		}
	}
	open := map[string]int{} // to how many peers; 0 for everybody
	for _, object := range objects(t) {
		if object.GetKind() != "NetworkPolicy" || object.GetNamespace() != "openshift-cluster-api-operator" {
			continue
		}
		policy := deploytest.As[networkingv1.NetworkPolicy](t, object)
		if selector, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector); err != nil || !selector.Matches(pods) {
			continue
		}
		for _, rule := range policy.Spec.Ingress {
			for _, port := range rule.Ports {
				open[port.Port.String()] = len(rule.From)
			}
		}
	}
	if want := map[string]int{"webhooks": 0, "health": 0, "metrics": 1}; !maps.Equal(open, want) {
		t.Errorf("open are %v", open)
	}
}

// Who may write requirements can stop writes of every definition, so nobody gets that right by a label. The one role that is
// made of others is the operator's alone, and has nothing but what providers label.
func TestNoRoleIsAggregatedToOthers(t *testing.T) {
	const gathers = "ClusterRole /capstan-provider-permissions"
	roles := 0
	for _, object := range objects(t) {
		switch object.GetKind() {
		case "ClusterRole", "Role":
			roles++
			for label := range object.GetLabels() {
				if strings.Contains(label, "aggregate-to-") {
					t.Errorf("%s is aggregated by label %s", key(object), label)
				}
			}
			rules, _, err := unstructured.NestedSlice(object.Object, "rules")
			if _, is := object.Object["aggregationRule"]; is && (key(object) != gathers || len(rules) > 0 || err != nil) {
				t.Errorf("%s is made of others (%v)", key(object), err)
			}
		case "ClusterRoleBinding":
			binding := deploytest.As[rbacv1.ClusterRoleBinding](t, object)
			alone := len(binding.Subjects) == 1 && binding.Subjects[0].Kind == "ServiceAccount" && binding.Subjects[0].Name == "capstan"
			if "ClusterRole /"+binding.RoleRef.Name == gathers && !alone {
				t.Errorf("%s gives what providers label to %v", key(object), binding.Subjects)
			}
		}
	}
	if roles == 0 {
		t.Error("there is no role")
	}
}
