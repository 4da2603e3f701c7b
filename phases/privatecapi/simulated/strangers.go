package simulated

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

const people = "system:serviceaccount:test:people"

// Look is an object of a side, nil for none.
func (w *World) Look(key machine.Key, side phases.Side, resource, name string) map[string]any {
	o := w.server.objects[refOf(kind(resource, side), w.namespaceOf(key), name)]
	if o == nil {
		return nil
	}
	return o.DeepCopy().Object
}

// AddTemplate has people create a template of machines on a side.
func (w *World) AddTemplate(key machine.Key, side phases.Side, name string) error {
	k := kind("awsmachinetemplates", side)
	_, err := w.server.try(phases.Write{Verb: phases.Create, Kind: k, Namespace: w.namespaceOf(key), Name: name, Body: map[string]any{
		"apiVersion": k.APIVersion(), "kind": k.Kind, "metadata": map[string]any{"namespace": w.namespaceOf(key), "name": name}, "spec": map[string]any{"x": "y"},
	}}, people, false)
	return err
}

// DeleteObject has people delete an object of a side.
func (w *World) DeleteObject(key machine.Key, side phases.Side, resource, name string) error {
	k := kind(resource, side)
	o := w.server.objects[refOf(k, w.namespaceOf(key), name)]
	if o == nil {
		return fmt.Errorf("there is no %s %s", resource, name)
	}
	_, err := w.server.try(phases.Write{Verb: phases.Delete, Kind: k, Namespace: w.namespaceOf(key), Name: name, UID: o.GetUID()}, people, false)
	return err
}

// Collect has the garbage collector delete an object of a side, which the fence lets it.
func (w *World) Collect(key machine.Key, side phases.Side, resource, name string) {
	w.server.delete(refOf(kind(resource, side), w.namespaceOf(key), name), "system:serviceaccount:kube-system:generic-garbage-collector")
}

// Replace has people delete an object of a side and create it anew, with the same name and content.
func (w *World) Replace(key machine.Key, side phases.Side, resource, name string) error {
	k := kind(resource, side)
	o := w.server.objects[refOf(k, w.namespaceOf(key), name)].DeepCopy()
	if err := w.DeleteObject(key, side, resource, name); err != nil {
		return err
	}
	o.SetAnnotations(nil)
	o.SetUID("")
	_, err := w.server.try(phases.Write{Verb: phases.Create, Kind: k, Namespace: w.namespaceOf(key), Name: name, Body: o.Object}, people, false)
	return err
}

// Replicas are those that a component of a hosted cluster is to have.
func (w *World) Replicas(key machine.Key, component string) any {
	spec, _ := w.server.objects[refOf(phases.Deployments, w.namespaceOf(key), component)].DeepCopy().Object["spec"].(map[string]any)
	return spec["replicas"]
}

// ScaleComponent has somebody give a component another number of replicas.
func (w *World) ScaleComponent(key machine.Key, component string, replicas int64) {
	o := w.server.objects[refOf(phases.Deployments, w.namespaceOf(key), component)].DeepCopy()
	set(o, replicas, "spec", "replicas")
	w.edit(phases.Deployments, o, false)
}

// Companion is what stands beside the lock of a hosted cluster.
func (w *World) Companion(key machine.Key) guards.Companion {
	return guards.MarksOf(w.Annotations(key)).Companion
}

// Slip has people create a template on the private side behind the fence.
func (w *World) Slip(key machine.Key, name string) {
	at := refOf(phases.Namespaces, "", w.namespaceOf(key))
	fenced := w.server.objects[at]
	open := fenced.DeepCopy()
	open.SetLabels(nil)
	w.server.store(at, open)
	if err := w.AddTemplate(key, phases.Private, name); err != nil {
		panic(err)
	}
	w.server.store(at, fenced.DeepCopy())
}

// Unfence has somebody take the labels of the fence off the namespace of a hosted cluster.
func (w *World) Unfence(key machine.Key) {
	o := w.server.objects[refOf(phases.Namespaces, "", w.namespaceOf(key))].DeepCopy()
	o.SetLabels(nil)
	w.edit(phases.Namespaces, o, false)
}

// WriteLate changes the template of machines on the private side, as by an API server that does not know of the fence yet.
func (w *World) WriteLate(key machine.Key, instanceType string) {
	at := refOf(kind("awsmachinetemplates", phases.Private), w.namespaceOf(key), "a")
	o := w.server.objects[at].DeepCopy()
	set(o, instanceType, "spec", "template", "spec", "instanceType")
	w.server.store(at, o)
}

// WriteStatusLate changes the status of the Cluster on the private side in the same way.
func (w *World) WriteStatusLate(key machine.Key) {
	at := refOf(kind("clusters", phases.Private), w.namespaceOf(key), w.object(key).GetName())
	o := w.server.objects[at].DeepCopy()
	set(o, "Late", "status", "phase")
	w.server.store(at, o)
}

// Unpolice has somebody take away the policies of the fence, or put them back.
func (w *World) Unpolice(gone bool) { w.server.unpoliced = gone }

// BreakWebhooks has a webhook be asked before the fence that does not answer.
func (w *World) BreakWebhooks() { w.server.unhooked = true }

// RefuseUnfenced has a policy refuse what the machine writes to a side, and to components, in a namespace without a fence.
func (w *World) RefuseUnfenced() {
	w.server.refuse = func(o phases.Write) error {
		if o.Namespace == "" || phases.SideOf(o.Kind.Group) == "" && o.Kind.Group != phases.Deployments.Group || w.fenceOf(o.Namespace) != guards.NoFence {
			return nil
		}
		return apierrors.NewForbidden(gr(o.Kind), o.Name, fmt.Errorf("no fence stands in namespace %s", o.Namespace))
	}
}
