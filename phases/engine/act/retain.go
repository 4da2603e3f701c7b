package act

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

var (
	volumeClaims = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
	claimKind    = schema.GroupKind{Kind: "PersistentVolumeClaim"}
)

// contentsOf finds out which data of users would be deleted with an object; what is going before does not count. Instances are
// listed one by one only if each is asked for.
func (e *Engine) contentsOf(ctx context.Context, actual *unstructured.Unstructured, going map[decide.Key]bool, each bool) (decide.Contents, error) {
	switch key := decide.KeyOf(actual); {
	case key.IsCRD():
		return e.crdContents(ctx, actual, going, each)
	case key.IsNamespace():
		return e.namespaceContents(ctx, key.Name, going)
	case decide.DeletesClaims(actual):
		return e.claimsOf(ctx, actual)
	}
	contents := counted(1, "volume")
	contents.Holding = &decide.Holding{}
	contents.Holding.Add(decide.HeldOf(actual.GroupVersionKind().GroupKind(), actual))
	return contents, nil
}

// cannotRead says that the API server could not return objects that may exist: it asks a conversion webhook, which does
// not answer, for existing objects only, and an aggregated API that is down may have any.
func (e *Engine) cannotRead(err error) bool {
	return apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) && e.throttle.Remaining() == 0
}

func counted(n int64, what string) decide.Contents {
	switch n {
	case 0:
		return decide.Contents{}
	case 1:
		return decide.Contents{Count: 1, What: "1 " + strings.TrimSuffix(what, "s")}
	}
	return decide.Contents{Count: n, What: fmt.Sprintf("%d %s", n, what)}
}

// crdContents counts the objects of a CRD. It asks for the stored version first and then for every other
// served one. No answer is an error: whether there is data must be known for sure.
func (e *Engine) crdContents(ctx context.Context, crd *unstructured.Unstructured, going map[decide.Key]bool, each bool) (decide.Contents, error) {
	established := decide.Condition(crd, "Established").Answer == decide.AnswerTrue
	versions := decide.ServedVersions(crd)
	if established && len(versions) == 0 {
		return decide.Contents{What: "what nobody can count, because none of its versions is served"}, nil
	}
	for _, version := range versions {
		gvr := decide.InstancesOf(crd, version)
		list, err := e.cluster.Reader.ListPage(ctx, gvr, "", metav1.ListOptions{Limit: instancePage})
		switch {
		case apierrors.IsNotFound(err) && !established:
			continue // it was never served, so nothing was ever stored
		case e.cannotRead(err):
			return decide.Contents{What: "what cannot be read: " + err.Error()}, nil
		case apierrors.IsForbidden(err):
			return decide.Contents{What: "what nobody can tell, because " + e.mayNotList([]string{resourceOf(see.Resource{GVR: gvr})}, "")}, nil
		case err != nil:
			return decide.Contents{}, err
		case withoutGoing(list, crd, going):
			e.watchInstances(crd, gvr)
			contents := held(gvr, list)
			if each {
				contents.Holding, err = e.instancesOf(ctx, crd, gvr, going)
			}
			return contents, err
		}
	}
	return decide.Contents{}, nil
}

// instancesOf lists all instances of a CRD.
func (e *Engine) instancesOf(ctx context.Context, crd *unstructured.Unstructured, gvr schema.GroupVersionResource, going map[decide.Key]bool) (*decide.Holding, error) {
	holding, kind := &decide.Holding{}, kindOf(crd)
	err := e.cluster.Reader.ListAll(ctx, gvr, "", "", func(obj *metav1.PartialObjectMetadata) {
		if !going[decide.Key{Group: kind.Group, Kind: kind.Kind, Namespace: obj.Namespace, Name: obj.Name}] {
			holding.Add(decide.HeldOf(kind, obj))
		}
	})
	return holding, err
}

// kindOf is the kind that a CRD defines.
func kindOf(crd *unstructured.Unstructured) schema.GroupKind {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: kind}
}

// withoutGoing takes off a page the instances that are going before, and says whether there is any other.
func withoutGoing(page *metav1.PartialObjectMetadataList, crd *unstructured.Unstructured, going map[decide.Key]bool) bool {
	if len(going) > 0 {
		kind := kindOf(crd)
		page.Items = slices.DeleteFunc(page.Items, func(o metav1.PartialObjectMetadata) bool {
			return going[decide.Key{Group: kind.Group, Kind: kind.Kind, Namespace: o.Namespace, Name: o.Name}]
		})
	}
	return len(page.Items) > 0 || page.RemainingItemCount != nil && *page.RemainingItemCount > 0
}

// held says how many instances there are, and how to list them. Neither their names nor their finalizers are told, which are
// texts of whoever may write them. Of those that a page leaves out only the number is known.
func held(gvr schema.GroupVersionResource, page *metav1.PartialObjectMetadataList) decide.Contents {
	found := users{gvr: gvr, namespaces: map[string]bool{}}
	for i := range page.Items {
		found.note(&page.Items[i])
		if page.Items[i].DeletionTimestamp != nil {
			found.going++
		}
	}
	if page.RemainingItemCount != nil {
		found.count += int(*page.RemainingItemCount)
		found.inPart = *page.RemainingItemCount > 0
	}
	if found.count == 0 {
		return decide.Contents{}
	}
	return decide.Contents{Count: int64(found.count), What: found.String()}
}

// claimsOf counts the volume claims of a StatefulSet.
func (e *Engine) claimsOf(ctx context.Context, set *unstructured.Unstructured) (decide.Contents, error) {
	holding := &decide.Holding{}
	err := e.cluster.Reader.ListAll(ctx, volumeClaims, set.GetNamespace(), "", func(claim *metav1.PartialObjectMetadata) {
		if decide.IsClaimOf(set, claim.Name) {
			holding.Add(decide.HeldOf(claimKind, claim))
		}
	})
	contents := counted(int64(len(holding.Objects)), "volume claims")
	contents.Holding = holding
	return contents, err
}
