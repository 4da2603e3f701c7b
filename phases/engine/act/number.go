package act

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// numberedKinds are kinds of which every installation has objects, and of which a tenant can write none: what is in a
// namespace may carry whatever its owner likes.
var numberedKinds = map[string]schema.GroupVersionResource{
	"CustomResourceDefinition": {Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	"ClusterRole":              {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
}

// HighestNumber is the highest revision number that was ever used here, 0 if none was: numbers must not be used again
// even when the list of revisions was lost. It asks the API server for the inventories, which are written before anything
// else, and for objects of the cluster, should inventories be lost: for those whose number one of our field managers
// wrote. A number that no installation can have reached is an error that names the object.
func (e *Engine) HighestNumber(ctx context.Context) (int64, error) {
	highest, err := e.highestOf(ctx, "ConfigMap", configMaps, e.cfg.Namespace, e.shelf.Place.Selector(), anyObject)
	if err != nil {
		return 0, err
	}
	for kind, gvr := range numberedKinds {
		n, err := e.highestOf(ctx, kind, gvr, "", e.us.Selector(), e.us.Numbered)
		if err != nil {
			return 0, err
		}
		highest = max(highest, n)
	}
	return highest, nil
}

func anyObject(metav1.Object) bool { return true }

func (e *Engine) highestOf(
	ctx context.Context, kind string, gvr schema.GroupVersionResource, namespace, selector string, counts func(metav1.Object) bool,
) (int64, error) {
	list, err := e.cluster.Reader.ListPage(ctx, gvr, namespace, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return 0, fmt.Errorf("looking for the highest revision number: %w", err)
	}
	var highest int64
	for i := range list.Items {
		annotations := list.Items[i].Annotations
		if other := annotations[decide.OwnerAnnotation]; other != "" && other != e.cfg.Owner || !counts(&list.Items[i]) {
			continue
		}
		n, err := strconv.ParseInt(annotations[decide.RevisionAnnotation], 10, 64)
		switch {
		case err != nil && !errors.Is(err, strconv.ErrRange):
			continue
		case err != nil || n > decide.MaxNumber:
			key := decide.Key{Kind: kind, Namespace: list.Items[i].Namespace, Name: list.Items[i].Name}
			return 0, fmt.Errorf("looking for the highest revision number: annotation %s of %s is %q, which is above %d, the highest that counts; take the annotation away",
				decide.RevisionAnnotation, key, annotations[decide.RevisionAnnotation], int64(decide.MaxNumber))
		}
		highest = max(highest, n)
	}
	return highest, nil
}
