package deploy_test

import (
	"os"
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
