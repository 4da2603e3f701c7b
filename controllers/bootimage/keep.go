package bootimage

import (
	machinev1 "github.com/openshift/api/machine/v1"
	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	phases "github.com/capstan-capi/capstan/phases/bootimage"
)

// The fields that are read of a target of Cluster API, and of the Cluster that it is of.
var (
	targetFields = [][]string{
		{"spec", "clusterName"},
		{"spec", "paused"},
		{"spec", "rollout"},
		{"spec", "template", "metadata", "labels"},
		{"spec", "template", "spec", "infrastructureRef"},
		{"spec", "template", "spec", "bootstrap"},
	}
	clusterFields = [][]string{{"spec", "paused"}}
)

// ownedFields are those that field managers own. keepTarget leaves nothing of them, nor of the status of what no Go type of ours is for.
const ownedFields = "metadata.managedFields.#.fieldsV1"

// keepTarget leaves out what is never read. What is left of the spec is what a target is looked at for, see matters: how many
// replicas there are, and what became of them, is not. Of the field managers the last one is kept, for it is told who has
// changed an image back.
func keepTarget(o client.Object) {
	annotations := o.GetAnnotations()
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	o.SetAnnotations(annotations)
	switch o := o.(type) {
	case *machinev1beta1.MachineSet:
		o.ManagedFields = lastManager(o.ManagedFields)
		template := &o.Spec.Template
		o.Spec = machinev1beta1.MachineSetSpec{AuthoritativeAPI: o.Spec.AuthoritativeAPI, Template: machinev1beta1.MachineTemplateSpec{
			ObjectMeta: machinev1beta1.ObjectMeta{Labels: template.Labels}, Spec: machinev1beta1.MachineSpec{ProviderSpec: template.Spec.ProviderSpec},
		}}
		o.Status = machinev1beta1.MachineSetStatus{AuthoritativeAPI: o.Status.AuthoritativeAPI}
	case *machinev1.ControlPlaneMachineSet:
		o.ManagedFields = lastManager(o.ManagedFields)
		o.Spec = machinev1.ControlPlaneMachineSetSpec{State: o.Spec.State, Strategy: o.Spec.Strategy, Template: o.Spec.Template}
		o.Status = machinev1.ControlPlaneMachineSetStatus{}
	case *unstructured.Unstructured:
		keepUntyped(o)
	}
}

// keepUntyped does so of an object that no Go type of ours is for. The spec of a template is kept whole, since clones have it, but packed.
func keepUntyped(o *unstructured.Unstructured) {
	if metadata, is := o.Object["metadata"].(map[string]any); is {
		entries, _ := metadata["managedFields"].([]any)
		delete(metadata, "managedFields")
		if last := lastUntyped(entries); last != nil {
			metadata["managedFields"] = []any{last}
		}
	}
	delete(o.Object, "status")
	switch o.GetKind() {
	case phases.MachineSetKind.Kind, phases.MachineDeploymentKind.Kind:
		keepFields(o.Object, targetFields)
	case phases.ClusterKind.Kind:
		keepFields(o.Object, clusterFields)
	case phases.AWSTemplateKind.Kind, phases.GCPTemplateKind.Kind:
		phases.Pack(o)
	}
}

// keepFields leaves nothing else in the spec.
func keepFields(of map[string]any, paths [][]string) {
	kept := map[string]any{}
	for _, path := range paths {
		value, found, err := unstructured.NestedFieldNoCopy(of, path...)
		if !found || err != nil {
			continue
		}
		at, last := kept, len(path)-1
		for _, key := range path[:last] {
			next, is := at[key].(map[string]any)
			if !is {
				next = map[string]any{}
				at[key] = next
			}
			at = next
		}
		at[path[last]] = value
	}
	of["spec"] = map[string]any{}
	if spec, is := kept["spec"]; is {
		of["spec"] = spec
	}
}

// lastManager is the one that has written last, but for a subresource, without the fields that it owns.
func lastManager(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	var last *metav1.ManagedFieldsEntry
	for i := range entries {
		e := &entries[i]
		if e.Subresource == "" && e.Time != nil && (last == nil || !e.Time.Before(last.Time)) {
			last = e
		}
	}
	if last == nil {
		return nil
	}
	return []metav1.ManagedFieldsEntry{{Manager: last.Manager, Operation: last.Operation, APIVersion: last.APIVersion, Time: last.Time}}
}

// lastUntyped is lastManager without a Go type for entries, which would be made of all fields that they own. The API server
// tells times in UTC, so that their texts sort like them.
func lastUntyped(entries []any) (last map[string]any) {
	latest := ""
	for _, one := range entries {
		e, _ := one.(map[string]any)
		at, _ := e["time"].(string)
		if of, _ := e["subresource"].(string); of == "" && at != "" && at >= latest {
			last, latest = e, at
		}
	}
	if last != nil {
		delete(last, "fieldsV1")
		delete(last, "fieldsType")
	}
	return last
}
