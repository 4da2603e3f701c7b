package simulated

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// kubelet has Pods come and go as Deployments ask, and tells in their status.
func (w *World) kubelet() {
	for _, at := range w.server.sorted() {
		if at.resource != phases.Deployments.Resource {
			continue
		}
		o := w.server.objects[at]
		pod := refOf(phases.Pods, at.namespace, at.name+"-0")
		replicas, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
		if replicas > 0 && w.server.objects[pod] == nil {
			labels, _, _ := unstructured.NestedMap(o.Object, "spec", "template", "metadata", "labels")
			w.put(phases.Pods, map[string]any{"metadata": map[string]any{"namespace": at.namespace, "name": pod.name, "labels": labels}})
		}
		if replicas == 0 {
			delete(w.server.objects, pod)
		}
		o = o.DeepCopy()
		o.Object["status"] = map[string]any{
			"observedGeneration": o.GetGeneration(), "replicas": replicas, "updatedReplicas": replicas, "availableReplicas": replicas,
		}
		w.edit(phases.Deployments, o, true)
	}
}

// operators are the old and the new one, each of which keeps the components of what is its own running.
func (w *World) operators(hosted *unstructured.Unstructured) {
	by := guards.OwnerOf(hosted.GetAnnotations()).By
	if w.Ignoring {
		by = guards.Legacy
	}
	if hosted.GetDeletionTimestamp() != nil && (by == guards.Legacy || by == guards.New) {
		o := hosted.DeepCopy()
		o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return f == "hypershift.openshift.io/finalizer" }))
		w.edit(phases.HostedClusters, o, false)
		return
	}
	if by != guards.Legacy && by != guards.New || w.Ignoring {
		if w.Ignoring {
			w.ignore(hosted)
		}
		return
	}
	for _, component := range phases.Components {
		o := w.server.objects[refOf(phases.Deployments, phases.ControlPlaneNamespace(hosted.GetNamespace(), hosted.GetName()), component.Name)]
		if o == nil {
			continue
		}
		o = o.DeepCopy()
		template, _, _ := unstructured.NestedMap(o.Object, "spec", "template")
		if by == guards.New {
			template = w.phases.Equipment.Equip(template, component)
		} else {
			template = w.phases.Equipment.Strip(template)
		}
		set(o, template, "spec", "template")
		set(o, int64(1), "spec", "replicas")
		w.edit(phases.Deployments, o, false)
	}
}

// ignore is what an operator tries that does not heed the lock: to write Cluster API objects.
func (w *World) ignore(hosted *unstructured.Unstructured) {
	namespace := phases.ControlPlaneNamespace(hosted.GetNamespace(), hosted.GetName())
	for _, side := range []phases.Side{phases.Standard, phases.Private} {
		k := kind("clusters", side)
		o := w.server.objects[refOf(k, namespace, hosted.GetName())]
		if o == nil || !guards.MarksOf(hosted.GetAnnotations()).Locked() {
			continue
		}
		o = o.DeepCopy()
		o.SetLabels(map[string]string{"ignored": "the-lock"})
		_, _ = w.server.try(phases.Write{Verb: phases.Replace, Kind: k, Namespace: namespace, Name: o.GetName(), Body: o.Object}, "system:serviceaccount:hypershift:operator", false)
	}
}

// components are Cluster API's controllers of a namespace: they run while their Pods do, on the side that their template shows them.
func (w *World) components(namespace string) {
	deployment := w.server.objects[refOf(phases.Deployments, namespace, "cluster-api")]
	if deployment == nil || w.server.objects[refOf(phases.Pods, namespace, "cluster-api-0")] == nil {
		return
	}
	side := phases.Standard
	if template, _, _ := unstructured.NestedMap(deployment.Object, "spec", "template"); phases.IsEquipped(template) {
		side = phases.Private
	}
	c := controllers{w: w, side: side, namespace: namespace}
	for _, cluster := range c.all("clusters") {
		if paused, _, _ := unstructured.NestedBool(cluster.Object, "spec", "paused"); !paused {
			c.reconcile()
		}
	}
}

type controllers struct {
	w         *World
	side      phases.Side
	namespace string
}

func (c controllers) all(resource string) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	k := kind(resource, c.side)
	for _, at := range c.w.server.sorted() {
		if at.group == k.Group && at.resource == resource && at.namespace == c.namespace {
			found = append(found, c.w.server.objects[at].DeepCopy())
		}
	}
	return found
}

func (c controllers) write(verb phases.Verb, k phases.Kind, o *unstructured.Unstructured, status bool) *unstructured.Unstructured {
	made, err := c.w.server.try(phases.Write{
		Verb: verb, Kind: k, Namespace: c.namespace, Name: o.GetName(), Status: status, UID: o.GetUID(), Body: o.Object,
	}, "system:serviceaccount:"+c.namespace+":cluster-api", false)
	if err != nil {
		return nil
	}
	return made
}

func (c controllers) reconcile() {
	for _, cluster := range c.all("clusters") {
		status, _, _ := unstructured.NestedMap(cluster.Object, "status")
		if status == nil {
			status = map[string]any{}
		}
		status["observedGeneration"] = cluster.GetGeneration()
		cluster.Object["status"] = status
		c.write(phases.Replace, kind("clusters", c.side), cluster, true)
	}
	for _, set := range c.all("machinesets") {
		c.reconcileSet(set)
	}
	for _, m := range c.all("machines") {
		c.reconcileMachine(m)
	}
	for _, m := range c.all("awsmachines") {
		c.reconcileInfrastructure(m)
	}
}

func (c controllers) reconcileSet(set *unstructured.Unstructured) {
	k := kind("machines", c.side)
	wanted, _, _ := unstructured.NestedInt64(set.Object, "spec", "replicas")
	for i := range int64(9) {
		name := fmt.Sprintf("%s-%d", set.GetName(), i)
		have := c.w.server.objects[refOf(k, c.namespace, name)]
		switch {
		case i < wanted && have == nil:
			c.write(phases.Create, k, &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": k.APIVersion(), "kind": k.Kind,
				"metadata": map[string]any{
					"namespace": c.namespace, "name": name, "finalizers": []any{"machine.cluster.x-k8s.io"}, "ownerReferences": []any{owner(set, true)},
				},
				"spec": map[string]any{"clusterName": set.GetName()},
			}}, false)
		case i >= wanted && have != nil && have.GetDeletionTimestamp() == nil:
			c.write(phases.Delete, k, have, false)
		}
	}
	if set.Object["status"] = map[string]any{"observedGeneration": set.GetGeneration(), "replicas": wanted}; wanted >= 0 {
		c.write(phases.Replace, kind("machinesets", c.side), set, true)
	}
}

func (c controllers) reconcileMachine(m *unstructured.Unstructured) {
	k, infra := kind("machines", c.side), kind("awsmachines", c.side)
	have := c.w.server.objects[refOf(infra, c.namespace, m.GetName())]
	if m.GetDeletionTimestamp() != nil {
		if have == nil {
			m.SetFinalizers(nil)
			c.write(phases.Replace, k, m, false)
		} else if have.GetDeletionTimestamp() == nil {
			c.write(phases.Delete, infra, have, false)
		}
		return
	}
	if have == nil {
		c.write(phases.Create, infra, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": infra.APIVersion(), "kind": infra.Kind,
			"metadata": map[string]any{
				"namespace": c.namespace, "name": m.GetName(), "finalizers": []any{"awsmachine.infrastructure.cluster.x-k8s.io"}, "ownerReferences": []any{owner(m, true)},
			},
			"spec": map[string]any{"instanceType": "m5.large"},
		}}, false)
	}
	if c.w.server.objects[refOf(secrets, c.namespace, "user-data-"+m.GetName())] == nil {
		c.write(phases.Create, secrets, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Secret",
			"metadata": map[string]any{"namespace": c.namespace, "name": "user-data-" + m.GetName(), "ownerReferences": []any{owner(m, true)}},
		}}, false)
	}
	phase, ready := "Running", "True"
	if c.w.failing[m.GetName()] {
		phase, ready = "Failed", "False"
	}
	m.Object["status"] = map[string]any{"phase": phase, "observedGeneration": m.GetGeneration(), "conditions": []any{map[string]any{"type": "Ready", "status": ready}}}
	c.write(phases.Replace, k, m, true)
}

func (c controllers) reconcileInfrastructure(m *unstructured.Unstructured) {
	k, instance := kind("awsmachines", c.side), c.namespace+"/"+m.GetName()
	if m.GetDeletionTimestamp() != nil {
		c.w.cloud.delete(instance)
		m.SetFinalizers(nil)
		c.write(phases.Replace, k, m, false)
		return
	}
	if id, _, _ := unstructured.NestedString(m.Object, "spec", "providerID"); id == "" {
		c.w.cloud.create(instance)
		set(m, "aws:///"+instance, "spec", "providerID")
		if m = c.write(phases.Replace, k, m, false); m == nil {
			return
		}
	}
	m.Object["status"] = map[string]any{"ready": true}
	c.write(phases.Replace, k, m, true)
}

// set sets a field of an object that was made here.
func set(o *unstructured.Unstructured, value any, fields ...string) {
	if err := unstructured.SetNestedField(o.Object, value, fields...); err != nil {
		panic(err)
	}
}
