package private_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// nodes is access to the hosted cluster itself, by the kubeconfig that Cluster API keeps for it.
func (h hosted) nodes(ctx context.Context) (*kubernetes.Clientset, error) {
	secret := &corev1.Secret{}
	if err := api.Get(ctx, client.ObjectKey{Namespace: h.namespace, Name: h.name + "-kubeconfig"}, secret); err != nil {
		return nil, err
	}
	cfg, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["value"])
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of %s: %w", h, err)
	}
	// The server of the dev provider is asked in JSON, which is all that it answers in.
	cfg.ContentType = "application/json"
	return kubernetes.NewForConfig(cfg)
}

// workers are the Machines of the MachineDeployment.
func (h hosted) workers(ctx context.Context) ([]unstructured.Unstructured, error) {
	machines, err := h.owned(ctx, "", "Machine")
	if err != nil {
		return nil, err
	}
	var workers []unstructured.Unstructured
	for _, machine := range machines {
		if machine.GetLabels()["cluster.x-k8s.io/deployment-name"] != "" {
			workers = append(workers, machine)
		}
	}
	return workers, nil
}

// scale asks for a number of workers.
func (h hosted) scale(ctx context.Context, workers int) error {
	return h.patch(ctx, "", "MachineDeployment", fmt.Sprintf(`{"spec":{"replicas":%d}}`, workers))
}

// breakNode gives the Node of one worker the condition that its health check looks for, and returns the Machine's name.
func (h hosted) breakNode(ctx context.Context) (string, error) {
	workers, err := h.workers(ctx)
	if err != nil || len(workers) == 0 {
		return "", errors.Join(fmt.Errorf("finding a worker of %s", h), err)
	}
	node, _, _ := unstructured.NestedString(workers[0].Object, "status", "nodeRef", "name")
	hostedAPI, err := h.nodes(ctx)
	if err != nil {
		return "", err
	}
	broken := `{"status":{"conditions":[{"type":"Broken","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
	_, err = hostedAPI.CoreV1().Nodes().Patch(ctx, node, types.StrategicMergePatchType, []byte(broken), metav1.PatchOptions{})
	if err != nil {
		return "", fmt.Errorf("breaking Node %s of %s: %w", node, h, err)
	}
	return workers[0].GetName(), nil
}

// roll has workers and control planes made from another template.
func (h hosted) roll(ctx context.Context, template string) error {
	reference := fmt.Sprintf(`{"spec":{"infrastructureRef":{"name":"%s-%s"}}}`, h.name, template)
	return errors.Join(
		h.patch(ctx, "", "MachineDeployment", fmt.Sprintf(`{"spec":{"template":%s}}`, reference)),
		h.patch(ctx, "controlplane", "KubeadmControlPlane", fmt.Sprintf(`{"spec":{"machineTemplate":%s}}`, reference)),
	)
}

// rolled is nil once every machine is made from the template.
func (h hosted) rolled(ctx context.Context, template string) error {
	machines, err := h.owned(ctx, "infrastructure", "DevMachine")
	if err != nil {
		return err
	}
	for _, machine := range slices.DeleteFunc(machines, isAbandoned) {
		from := machine.GetAnnotations()["cluster.x-k8s.io/cloned-from-name"]
		if !strings.HasSuffix(from, "-"+template) {
			return fmt.Errorf("%s: DevMachine %s is made from %s", h, machine.GetName(), from)
		}
	}
	return nil
}
