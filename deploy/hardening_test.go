package deploy_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
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
	deployment, budget := only[appsv1.Deployment](t, "Deployment"), only[policyv1.PodDisruptionBudget](t, "PodDisruptionBudget")
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
	pod := only[appsv1.Deployment](t, "Deployment").Spec.Template.Spec
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
	pod := only[appsv1.Deployment](t, "Deployment").Spec.Template
	service, role := only[corev1.Service](t, "Service"), &rbacv1.Role{}
	monitor := &unstructured.Unstructured{}
	for _, object := range objects(t) {
		switch {
		case object.GetKind() == "ServiceMonitor":
			monitor = object
		case object.GetKind() == "Role" && object.GetName() == "prometheus-k8s":
			role = as[rbacv1.Role](t, object)
		}
	}
	ports := map[string]int32{}
	for _, port := range pod.Spec.Containers[0].Ports {
		ports[port.Name] = port.ContainerPort
	}
	at := service.Spec.Ports[0]
	if ports[at.TargetPort.StrVal] != at.Port || !slices.Contains(pod.Spec.Containers[0].Args, fmt.Sprintf("--metrics-bind-address=:%d", at.Port)) {
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
