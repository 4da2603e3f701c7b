package simulated

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// Picture is what there is of a hosted cluster, by name, as text that can be compared.
type Picture map[string]string

// Objects is a picture of the Cluster API objects of a hosted cluster, whichever side they are on: in standard text, with names in
// place of UIDs, and without what an API server sets. Sides are how many lie on each.
func (w *World) Objects(key machine.Key) (p Picture, standard, private int) {
	return w.ObjectsIn(w.namespaceOf(key))
}

// ObjectsIn is the same of a namespace, of which the hosted cluster may be gone.
func (w *World) ObjectsIn(namespace string) (p Picture, standard, private int) {
	p = Picture{}
	for _, at := range w.server.sorted() {
		side := phases.SideOf(at.group)
		if side == "" || at.namespace != namespace {
			continue
		}
		o := w.server.objects[at]
		if side == phases.Private {
			private++
			o = phases.SeenByClient(o)
		} else {
			standard++
		}
		p[fmt.Sprintf("%s %s", at.resource, at.name)] += w.text(o, true)
	}
	return p, standard, private
}

// PrivateObjects are those on the private side.
func (w *World) PrivateObjects(key machine.Key) Picture {
	p := Picture{}
	for _, at := range w.server.sorted() {
		if at.namespace == w.namespaceOf(key) && phases.SideOf(at.group) == phases.Private {
			p[fmt.Sprintf("%s %s", at.resource, at.name)] = w.text(phases.SeenByClient(w.server.objects[at]), true)
		}
	}
	return p
}

// Rest is a picture of everything else in the namespace of its control plane, with UIDs, and of the marks of the hosted cluster.
func (w *World) Rest(key machine.Key) Picture {
	p := Picture{}
	namespace := w.namespaceOf(key)
	for _, at := range w.server.sorted() {
		o := w.server.objects[at]
		itself := at.resource == phases.HostedClusters.Resource && phases.KeyOf(o) == key || at.resource == phases.Namespaces.Resource && at.name == namespace
		if !itself && (phases.SideOf(at.group) != "" || at.namespace != namespace || at.resource == phases.Pods.Resource) {
			continue
		}
		o = o.DeepCopy()
		delete(o.Object, "status")
		p[fmt.Sprintf("%s %s", at.resource, at.name)] = string(o.GetUID()) + w.text(o, false)
	}
	return p
}

// Dependents are the UIDs of Secrets, with the names of those that own them on each side.
func (w *World) Dependents(key machine.Key) Picture {
	p := Picture{}
	for _, at := range w.server.sorted() {
		if o := w.server.objects[at]; at.namespace == w.namespaceOf(key) && at.resource == secrets.Resource {
			p[at.name] = string(o.GetUID()) + w.text(o, false)
		}
	}
	return p
}

func (w *World) namespaceOf(key machine.Key) string {
	o := w.object(key)
	return phases.ControlPlaneNamespace(o.GetNamespace(), o.GetName())
}

func (w *World) text(o *unstructured.Unstructured, managers bool) string {
	o = o.DeepCopy()
	generation := o.GetGeneration()
	var managedBy []string
	for _, entry := range o.GetManagedFields() {
		if entry.Manager != phases.Manager {
			managedBy = append(managedBy, entry.Manager+" "+entry.APIVersion+" "+entry.Subresource)
		}
	}
	slices.Sort(managedBy)
	var owners []string
	for _, ref := range o.GetOwnerReferences() {
		owners = append(owners, fmt.Sprintf("%s %s %s controls=%v there=%v", phases.StandardText(ref.APIVersion), ref.Kind, ref.Name, ref.Controller != nil && *ref.Controller, w.there(ref.UID)))
	}
	slices.Sort(owners)
	if seen, is, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration"); is {
		set(o, seen >= generation, "status", "observedGeneration")
	}
	metadata, _ := o.Object["metadata"].(map[string]any)
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "ownerReferences", "deletionTimestamp"} {
		delete(metadata, field)
	}
	for _, field := range []string{"annotations", "labels", "finalizers"} {
		if raw, err := json.Marshal(metadata[field]); err == nil && len(raw) <= len("{}") {
			delete(metadata, field)
		}
	}
	text, err := json.Marshal(o.Object)
	if err != nil {
		panic(err)
	}
	all := fmt.Sprintf("%s owners=%v terminating=%v", text, owners, o.GetDeletionTimestamp() != nil)
	if managers {
		all += fmt.Sprintf(" managers=%v", managedBy)
	}
	return all
}

func (w *World) there(uid any) bool {
	for _, o := range w.server.objects {
		if fmt.Sprint(o.GetUID()) == fmt.Sprint(uid) {
			return true
		}
	}
	return false
}

// Differs names what differs between two pictures.
func (p Picture) Differs(other Picture) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if p[name] != other[name] {
			found = append(found, fmt.Sprintf("%s\n  was %s\n  is  %s", name, p[name], other[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(other)) {
		if _, known := p[name]; !known {
			found = append(found, name+" is new: "+other[name])
		}
	}
	return found
}
