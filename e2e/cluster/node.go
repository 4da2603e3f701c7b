package cluster

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"runtime"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/crds"
)

//go:generate go test -vet=off . -run TestEveryKwokFileIsACopyOfTheModulesOwn -update

// kwokFiles are copies out of the kwok module: the definition of Stage, and the
// Stages that make the node Ready and its pods run.
//
//go:embed kwok/*.yaml
var kwokFiles embed.FS

// NodeName is the only node: a schedulable control plane node.
const NodeName = "node-0"

var stages = schema.GroupVersionResource{Group: "kwok.x-k8s.io", Version: "v1alpha1", Resource: "stages"}

func stageDefinition() (*apiextensionsv1.CustomResourceDefinition, error) {
	data, err := kwokFiles.ReadFile("kwok/kwok.x-k8s.io_stages.yaml")
	if err != nil {
		return nil, fmt.Errorf("reading the definition of Stage: %w", err)
	}
	return crds.Parse(data)
}

func (c *Cluster) applyStages(ctx context.Context) error {
	files, err := fs.Glob(kwokFiles, "kwok/stage-*.yaml")
	if err != nil {
		return fmt.Errorf("listing the stages: %w", err)
	}
	for _, file := range files {
		data, err := kwokFiles.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading stage %s: %w", file, err)
		}
		stage := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(data, stage); err != nil {
			return fmt.Errorf("parsing stage %s: %w", file, err)
		}
		if err := c.applyStage(ctx, stage); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) applyStage(ctx context.Context, stage *unstructured.Unstructured) error {
	options := metav1.ApplyOptions{FieldManager: UserAgent, Force: true}
	if _, err := c.dynamic.Resource(stages).Apply(ctx, stage.GetName(), stage, options); err != nil {
		return fmt.Errorf("applying Stage %s: %w", stage.GetName(), err)
	}
	return nil
}

func (c *Cluster) createNode(ctx context.Context) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: NodeName,
		Labels: map[string]string{
			corev1.LabelHostname:                    NodeName,
			corev1.LabelOSStable:                    "linux",
			corev1.LabelArchStable:                  runtime.GOARCH,
			"node-role.kubernetes.io/control-plane": "",
			"node-role.kubernetes.io/master":        "",
		},
	}}
	if _, err := c.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating node %s: %w", NodeName, err)
	}
	return nil
}

// prove creates a Deployment, waits until it is Available and deletes it: each
// component must have done its part for that.
func (c *Cluster) prove(ctx context.Context) error {
	name := "ready-probe-" + utilrand.String(8)
	labels := map[string]string{"app": name}
	deployments := c.client.AppsV1().Deployments(metav1.NamespaceSystem)
	wanted := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "none", Image: "none"}}},
			},
		},
	}
	err := c.eventually(ctx, "waiting for a Deployment to be accepted", func(ctx context.Context) error {
		_, err := deployments.Create(ctx, wanted, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	err = c.eventually(ctx, "waiting for a Deployment to be Available", func(ctx context.Context) error {
		seen, err := deployments.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if seen.Status.AvailableReplicas < 1 {
			return fmt.Errorf("no replica of %s is available: %+v", name, seen.Status.Conditions)
		}
		return nil
	})
	if err != nil {
		return err
	}
	background := metav1.DeletePropagationBackground
	if err := deployments.Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
		return fmt.Errorf("deleting Deployment %s: %w", name, err)
	}
	return nil
}
