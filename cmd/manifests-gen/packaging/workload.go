package packaging

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// podAnnotations belong on the pod template, since the admission of pods reads
// them: the first to pin management pods to reserved CPUs, the second to choose
// the security context constraint.
var podAnnotations = map[string]string{
	"target.workload.openshift.io/management": `{"effect": "PreferredDuringScheduling"}`,
	"openshift.io/required-scc":               "restricted-v2",
}

// fitDeployments makes Deployments follow the conventions of OpenShift's control plane components.
func fitDeployments(objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if !isKind(object, "apps", "Deployment") {
			continue
		}
		containers, err := containers(object)
		if err != nil {
			return err
		}
		if len(containers) == 0 {
			return root(object).errorf("spec.template.spec.containers", "is empty: a Deployment without containers cannot run")
		}
		for _, container := range containers {
			container.fields["imagePullPolicy"] = "IfNotPresent"
			container.fields["terminationMessagePolicy"] = "FallbackToLogsOnError"
			container.fields["resources"] = map[string]any{
				"requests": map[string]any{"cpu": "10m", "memory": "50Mi"},
			}
		}
		annotations, err := root(object).ensure("spec.template.metadata.annotations")
		if err != nil {
			return err
		}
		for key, value := range podAnnotations {
			annotations.fields[key] = value
		}
		pod, err := root(object).ensure("spec.template.spec")
		if err != nil {
			return err
		}
		pod.fields["priorityClassName"] = "system-cluster-critical"
	}
	return nil
}

// podSpec returns the spec of a pod, or of the pods of a workload; found is false for other objects.
func podSpec(object *unstructured.Unstructured) (spec node, found bool, err error) {
	switch group := object.GroupVersionKind().Group; {
	case isKind(object, "", "Pod"):
		return root(object).child("spec")
	case isKind(object, "batch", "CronJob"):
		return root(object).child("spec.jobTemplate.spec.template.spec")
	case group == "apps" || group == "batch":
		return root(object).child("spec.template.spec")
	}
	return node{}, false, nil
}

// containers are the init containers and containers of a workload, in this order.
func containers(object *unstructured.Unstructured) ([]node, error) {
	spec, found, err := podSpec(object)
	if err != nil || !found {
		return nil, err
	}
	initial, err := spec.children("initContainers")
	if err != nil {
		return nil, err
	}
	regular, err := spec.children("containers")
	return append(initial, regular...), err
}

// images are the distinct images that workloads use, sorted.
func images(objects []*unstructured.Unstructured) []string {
	var used []string
	for _, object := range objects {
		containers, err := containers(object)
		if err != nil {
			continue // the transformation that met it first has reported it
		}
		for _, container := range containers {
			if image, err := container.text("image"); err == nil {
				used = append(used, image)
			}
		}
	}
	slices.Sort(used)
	return slices.Compact(used)
}
