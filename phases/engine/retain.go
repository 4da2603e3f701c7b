package engine

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// holds finds out what data of users would go with an object.
func (r *removal) holds(ctx context.Context, actual *unstructured.Unstructured) (holding, error) {
	var count int64
	var err error
	what := "objects"
	switch key := KeyOf(actual); {
	case key.isCRD():
		return r.e.instances(ctx, actual)
	case key.Kind == "Namespace":
		count, err = r.contents(ctx, key.Name)
	default:
		count, what = 1, "volume"
	}
	return counted(count, what), err
}

func counted(n int64, what string) holding {
	switch n {
	case 0:
		return holding{}
	case 1:
		return holding{1, "1 " + strings.TrimSuffix(what, "s")}
	}
	return holding{n, fmt.Sprintf("%d %s", n, what)}
}

// instances counts the objects of a CRD, asking in the stored version first and then in every other served one. An
// answer that does not come is an error: whether there is data must be known for sure.
func (e *Engine) instances(ctx context.Context, crd *unstructured.Unstructured) (holding, error) {
	established := condition(crd, "Established").Answer == AnswerTrue
	versions := servedVersions(crd)
	if established && len(versions) == 0 {
		return holding{what: "what nobody can count, because none of its versions is served"}, nil
	}
	for _, version := range versions {
		list, err := e.listSome(ctx, instancesOf(crd, version), "", 1)
		switch {
		case apierrors.IsNotFound(err) && !established:
			continue // it was never served, so nothing was ever stored
		case apierrors.IsInternalError(err): // an instance is there, and its conversion webhook is not
			return holding{what: "what cannot be read: " + err.Error()}, nil
		case err != nil:
			return holding{}, err
		}
		n := int64(len(list.Items))
		if list.RemainingItemCount != nil {
			n += *list.RemainingItemCount
		}
		if n > 0 {
			e.awaitEmpty(crd, instancesOf(crd, version))
			return counted(n, "instances"), nil
		}
	}
	return holding{}, nil
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
	done := map[schema.GroupResource]bool{}
	var total int64
	for gvk, served := range announced {
		if !served.namespaced || !served.lists || transient[gvk.Kind] || done[served.gvr.GroupResource()] {
			continue
		}
		done[served.gvr.GroupResource()] = true
		list, err := r.e.listSome(ctx, served.gvr, namespace, 0)
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

// listSome lists the metadata of objects, all of them without a limit.
func (e *Engine) listSome(ctx context.Context, gvr schema.GroupVersionResource, namespace string, limit int64) (*metav1.PartialObjectMetadataList, error) {
	list, err := e.metadata.Resource(gvr).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: limit})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", gvr.GroupResource(), err)
	}
	return list, nil
}
