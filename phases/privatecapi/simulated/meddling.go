package simulated

import (
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// Unequip has somebody take the proxy from a component of a hosted cluster.
func (w *World) Unequip(key machine.Key, component string) {
	o := w.server.objects[refOf(phases.Deployments, w.namespaceOf(key), component)].DeepCopy()
	template, _, _ := unstructured.NestedMap(o.Object, "spec", "template")
	set(o, w.phases.Equipment.Strip(template), "spec", "template")
	w.edit(phases.Deployments, o, false)
}

// Outdate has the proxy of a component be one that asks for no token.
func (w *World) Outdate(key machine.Key, component string) {
	o := w.server.objects[refOf(phases.Deployments, w.namespaceOf(key), component)].DeepCopy()
	inits, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "initContainers")
	for i := range inits {
		if one, _ := inits[i].(map[string]any); one["name"] == "kube-apiserver-proxy" {
			one["args"] = []any{"capi-proxy"}
		}
	}
	set(o, inits, "spec", "template", "spec", "initContainers")
	w.edit(phases.Deployments, o, false)
}

// EquipByFlag has the control-plane operator equip a component in a way of its own: a flag points the first container to the proxy, and
// another one is left alone.
func (w *World) EquipByFlag(key machine.Key, component string) {
	o := w.server.objects[refOf(phases.Deployments, w.namespaceOf(key), component)].DeepCopy()
	template, _, _ := unstructured.NestedMap(o.Object, "spec", "template")
	set(o, w.phases.Equipment.Equip(w.phases.Equipment.Strip(template), phases.Component{}), "spec", "template")
	containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
	first, _ := containers[0].(map[string]any)
	first["args"] = []any{"--kubeconfig=" + phases.KubeconfigPath}
	delete(first, "env")
	set(o, append(containers, map[string]any{"name": "prober"}), "spec", "template", "spec", "containers")
	w.edit(phases.Deployments, o, false)
}

// Args are the arguments of a component.
func (w *World) Args(key machine.Key, component string) []any {
	o := w.server.objects[refOf(phases.Deployments, w.namespaceOf(key), component)]
	containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
	first, _ := containers[0].(map[string]any)
	args, _ := first["args"].([]any)
	return args
}

// SetFence has somebody put a fence on the namespace of a hosted cluster, in the name of no move.
func (w *World) SetFence(key machine.Key, fence guards.Fence) {
	o := w.server.objects[refOf(phases.Namespaces, "", w.namespaceOf(key))].DeepCopy()
	o.SetLabels(map[string]string{guards.FenceLabel: string(fence)})
	w.edit(phases.Namespaces, o, false)
}

// Bind has somebody put the finalizer of moves on a hosted cluster.
func (w *World) Bind(key machine.Key) {
	o := w.object(key).DeepCopy()
	o.SetFinalizers(append(o.GetFinalizers(), guards.Finalizer))
	w.edit(phases.HostedClusters, o, false)
}

// IsBound says that a hosted cluster has the finalizer of moves.
func (w *World) IsBound(key machine.Key) bool {
	return slices.Contains(w.object(key).GetFinalizers(), guards.Finalizer)
}

// Mark has somebody put an annotation on a Deployment, or on an object of the standard side, or take it off if the value is empty.
func (w *World) Mark(key machine.Key, resource, name, annotation, value string) {
	k := phases.Deployments
	if resource != k.Resource {
		k = kind(resource, phases.Standard)
	}
	o := w.server.objects[refOf(k, w.namespaceOf(key), name)].DeepCopy()
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	if annotations[annotation] = value; value == "" {
		delete(annotations, annotation)
	}
	o.SetAnnotations(annotations)
	w.edit(k, o, false)
}

// Retemplate has the operator of a component give its Pods another variable.
func (w *World) Retemplate(key machine.Key, component, name string) {
	o := w.server.objects[refOf(phases.Deployments, w.namespaceOf(key), component)].DeepCopy()
	containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
	first, _ := containers[0].(map[string]any)
	env, _ := first["env"].([]any)
	first["env"] = append([]any{map[string]any{"name": name, "value": "new"}}, env...)
	set(o, containers, "spec", "template", "spec", "containers")
	w.edit(phases.Deployments, o, false)
}

// Env are the names of the variables of a component.
func (w *World) Env(key machine.Key, component string) (names []string) {
	o := w.server.objects[refOf(phases.Deployments, w.namespaceOf(key), component)]
	containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
	first, _ := containers[0].(map[string]any)
	env, _ := first["env"].([]any)
	for _, item := range env {
		one, _ := item.(map[string]any)
		name, _ := one["name"].(string)
		names = append(names, name)
	}
	return names
}

// RefuseOf has the API server refuse the machine's writes of a verb to one object, for good.
func (w *World) RefuseOf(verb phases.Verb, resource, name string) {
	w.server.refuse = func(o phases.Write) error {
		if o.Verb == verb && o.Kind.Resource == resource && o.Name == name {
			return apierrors.NewInvalid(o.Kind.GroupKind(), o.Name, nil)
		}
		return nil
	}
}

// Untold has the API server not tell who serves the webhooks in the namespace of a hosted cluster.
func (w *World) Untold(key machine.Key) { w.server.unasked = w.namespaceOf(key) }

// NamespaceOf is that of the control plane of a hosted cluster.
func (w *World) NamespaceOf(key machine.Key) string { return w.namespaceOf(key) }

// Said are the texts of Events.
func (w *World) Said() []string {
	var texts []string
	for _, e := range w.events {
		texts = append(texts, e.Text)
	}
	return texts
}

// TakeAway has people take the finalizers off all objects of a side, and delete them without what they own.
func (w *World) TakeAway(key machine.Key, side phases.Side) error {
	for _, at := range w.server.sorted() {
		if at.namespace != w.namespaceOf(key) || phases.SideOf(at.group) != side {
			continue
		}
		o := w.server.objects[at].DeepCopy()
		o.SetFinalizers(nil)
		write := phases.Write{Verb: phases.Replace, Kind: kind(at.resource, side), Namespace: at.namespace, Name: at.name, UID: o.GetUID(), Body: o.Object}
		if _, err := w.server.try(write, people, false); err != nil {
			return err
		}
		w.server.orphan(o.GetUID())
		write.Verb = phases.Delete
		if _, err := w.server.try(write, people, false); err != nil {
			return err
		}
	}
	return nil
}
