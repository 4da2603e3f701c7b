package act

import (
	"context"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// numberedKinds are kinds of which every installation has objects.
var numberedKinds = [...]schema.GroupVersionResource{
	{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
}

// HighestNumber is the highest revision number that was ever used here, 0 if none was: numbers must not be used again
// even when the list of revisions was lost. It asks the API server: for the inventories, which are written before
// anything else, and only if there are none for the numbers on objects.
func (e *Engine) HighestNumber(ctx context.Context) (int64, error) {
	highest, err := e.highestOf(ctx, configMaps, e.cfg.Namespace, e.shelf.Place.Selector())
	if err != nil || highest > 0 {
		return highest, err
	}
	for _, gvr := range numberedKinds {
		n, err := e.highestOf(ctx, gvr, "", e.us.Selector())
		if err != nil {
			return 0, err
		}
		highest = max(highest, n)
	}
	return highest, nil
}

func (e *Engine) highestOf(ctx context.Context, gvr schema.GroupVersionResource, namespace, selector string) (int64, error) {
	list, err := e.cluster.Reader.Metadata.Resource(gvr).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil && !apierrors.IsNotFound(err) {
		return 0, fmt.Errorf("looking for the highest revision number on %s: %w", gvr.Resource, err)
	}
	if list == nil {
		return 0, nil
	}
	var highest int64
	for i := range list.Items {
		annotations := list.Items[i].Annotations
		if other := annotations[decide.OwnerAnnotation]; other != "" && other != e.cfg.Owner {
			continue
		}
		if n, err := strconv.ParseInt(annotations[decide.RevisionAnnotation], 10, 64); err == nil {
			highest = max(highest, n)
		}
	}
	return highest, nil
}
