package engine

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// holds says whether deleting an object would delete data of users with it, and notes what and how much.
func (r *removal) holds(ctx context.Context, actual *unstructured.Unstructured, o *Orphan) (bool, error) {
	var err error
	what := "objects"
	switch key := KeyOf(actual); {
	case key.isCRD():
		what = "instances"
		o.Count, err = r.instances(ctx, actual)
	case key.Group == "" && key.Kind == "Namespace":
		o.Count, err = r.contents(ctx, key.Name)
	case key.Group == "" && (key.Kind == "PersistentVolume" || key.Kind == "PersistentVolumeClaim"):
		o.Count, o.Why = 1, "holds a volume"
		return true, nil
	}
	if err != nil || o.Count == 0 {
		return false, err
	}
	o.Why = fmt.Sprintf("holds %d %s", o.Count, what)
	return true, nil
}

// instances counts the objects of a CRD, asking in the stored version first and then in every other served one. An
// answer that does not come is an error: whether there is data must be known for sure.
func (r *removal) instances(ctx context.Context, crd *unstructured.Unstructured) (int64, error) {
	if condition(crd, "Established").Answer != AnswerTrue {
		if stored, _, _ := unstructured.NestedStringSlice(crd.Object, "status", "storedVersions"); len(stored) == 0 {
			return 0, nil // never served, so nothing was ever stored
		}
	}
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	for _, stored := range [...]bool{true, false} {
		for _, version := range versionsOf(crd) {
			if version["served"] != true || (version["storage"] == true) != stored {
				continue
			}
			name := text(version["name"])
			list, err := r.list(ctx, schema.GroupVersionResource{Group: group, Version: name, Resource: plural}, "", 1)
			if err != nil {
				return 0, err
			}
			n := int64(len(list.Items))
			if list.RemainingItemCount != nil {
				n += *list.RemainingItemCount
			}
			if n > 0 {
				return n, nil
			}
		}
	}
	return 0, nil
}

// transient are kinds whose objects nobody loses with their namespace: other objects bring them, or they only serve
// the moment.
var transient = set([]string{"Event", "Lease", "Endpoints", "EndpointSlice", "PodMetrics", "PackageManifest"})

// planted are the objects that a cluster puts into every namespace by itself.
var planted = set([]string{
	"ServiceAccount default", "ServiceAccount builder", "ServiceAccount deployer",
	"ConfigMap kube-root-ca.crt", "ConfigMap openshift-service-ca.crt",
	"RoleBinding system:deployers", "RoleBinding system:image-builders", "RoleBinding system:image-pullers",
})

// contents counts the objects in a namespace that would be somebody's loss: those that are neither this
// installation's, nor owned by another object, nor put there by the cluster itself.
func (r *removal) contents(ctx context.Context, namespace string) (int64, error) {
	announced, err := r.e.announced(ctx)
	if err != nil {
		return 0, err
	}
	counted := map[schema.GroupResource]bool{}
	var total int64
	for gvk, served := range announced {
		if !served.namespaced || !served.lists || transient[gvk.Kind] || counted[served.gvr.GroupResource()] {
			continue
		}
		counted[served.gvr.GroupResource()] = true
		list, err := r.list(ctx, served.gvr, namespace, 0)
		if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
			continue
		}
		if err != nil {
			return 0, err
		}
		for i := range list.Items {
			obj := &list.Items[i]
			ours := obj.Annotations[OwnerAnnotation] == r.e.cfg.Owner
			_, booked := obj.Labels[InventoryLabel]
			if !ours && !booked && len(obj.OwnerReferences) == 0 && !planted[gvk.Kind+" "+obj.Name] {
				total++
			}
		}
	}
	return total, nil
}

func (r *removal) list(ctx context.Context, gvr schema.GroupVersionResource, namespace string, limit int64) (*metav1.PartialObjectMetadataList, error) {
	list, err := r.e.metadata.Resource(gvr).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: limit})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", gvr.GroupResource(), err)
	}
	return list, nil
}
