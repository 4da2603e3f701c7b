package act

import (
	"cmp"
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
// wrote. listed is the highest that the caller knows. A number that no installation can have reached after what is known
// is an error that names the object.
func (e *Engine) HighestNumber(ctx context.Context, listed int64) (int64, error) {
	stored, err := e.highestStored(ctx)
	if err != nil {
		return 0, fmt.Errorf("looking for the highest revision number: %w", err)
	}
	highest := max(stored, listed)
	known := max(highest, e.highestPlanned())
	for kind, gvr := range numberedKinds {
		n, err := e.highestOf(ctx, kind, gvr, known)
		if err != nil {
			return 0, fmt.Errorf("looking for the highest revision number: %w", err)
		}
		highest = max(highest, n)
	}
	return highest, nil
}

// highestStored is the highest number of an inventory.
func (e *Engine) highestStored(ctx context.Context) (int64, error) {
	var highest int64
	var last error // of the first that leaves none
	err := e.cluster.Reader.ListAll(ctx, configMaps, e.cfg.Namespace, e.shelf.Place.Selector(), func(obj *metav1.PartialObjectMetadata) {
		n, ours := e.shelf.Place.NumberOf(obj)
		if ours && n >= decide.MaxNumber && last == nil {
			last = fmt.Errorf("ConfigMap %s/%s is of number %d, above which there is none for the next revision; delete it if it is no inventory of yours",
				e.cfg.Namespace, obj.Name, n)
		}
		if ours {
			highest = max(highest, n)
		}
	})
	if err := cmp.Or(err, last); err != nil {
		return 0, err
	}
	return highest, nil
}

// highestPlanned is the highest number of the revisions that matter.
func (e *Engine) highestPlanned() int64 {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	var highest int64
	for rev := range e.plans {
		highest = max(highest, rev.Number)
	}
	return highest
}

// highestOf is the highest number of the objects of a kind.
func (e *Engine) highestOf(ctx context.Context, kind string, gvr schema.GroupVersionResource, known int64) (int64, error) {
	var highest int64
	var leap error // of the first that cannot be believed
	err := e.cluster.Reader.ListAll(ctx, gvr, "", e.us.Selector(), func(obj *metav1.PartialObjectMetadata) {
		n, err := e.numberOn(obj, kind, known)
		leap, highest = cmp.Or(leap, err), max(highest, n)
	})
	if err := cmp.Or(err, leap); err != nil {
		return 0, err
	}
	return highest, nil
}

// numberOn is the number that one of our field managers wrote on an object of ours, 0 for none.
func (e *Engine) numberOn(obj *metav1.PartialObjectMetadata, kind string, known int64) (int64, error) {
	text := obj.Annotations[decide.RevisionAnnotation]
	if other := obj.Annotations[decide.OwnerAnnotation]; other != "" && other != e.cfg.Owner || !e.us.Numbered(obj) {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, nil
	case err != nil || !decide.Believable(n, known):
		key := decide.Key{Kind: kind, Namespace: obj.Namespace, Name: obj.Name}
		return 0, fmt.Errorf("annotation %s of %s is %q, which no revision can have reached after %d, the newest that is known; take the annotation away",
			decide.RevisionAnnotation, key, text, known)
	}
	return n, nil
}
