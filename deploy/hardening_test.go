package deploy_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
