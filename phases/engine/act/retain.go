package act

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

var volumeClaims = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}

// contentsOf finds out which data of users would be deleted with an object.
func (e *Engine) contentsOf(ctx context.Context, actual *unstructured.Unstructured) (decide.Contents, error) {
	switch key := decide.KeyOf(actual); {
	case key.IsCRD():
		return e.crdContents(ctx, actual)
	case key.IsNamespace():
		return e.namespaceContents(ctx, key.Name)
	case decide.DeletesClaims(actual):
		return e.claimsOf(ctx, actual)
	}
	return counted(1, "volume"), nil
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

// crdContents counts the objects of a CRD and names some. It asks for the stored version first and then for every other
// served one. No answer is an error: whether there is data must be known for sure.
func (e *Engine) crdContents(ctx context.Context, crd *unstructured.Unstructured) (decide.Contents, error) {
	established := decide.Condition(crd, "Established").Answer == decide.AnswerTrue
	versions := decide.ServedVersions(crd)
	if established && len(versions) == 0 {
		return decide.Contents{What: "what nobody can count, because none of its versions is served"}, nil
	}
	for _, version := range versions {
		list, err := e.cluster.Reader.ListPage(ctx, decide.InstancesOf(crd, version), "", metav1.ListOptions{Limit: namedAtMost})
		switch {
		case apierrors.IsNotFound(err) && !established:
			continue // it was never served, so nothing was ever stored
		case e.cannotRead(err):
			return decide.Contents{What: "what cannot be read: " + err.Error()}, nil
		case apierrors.IsForbidden(err):
			return decide.Contents{What: "what nobody can tell, because " + mayNotList([]string{resourceOf(see.Resource{GVR: decide.InstancesOf(crd, version)})}, "")}, nil
		case err != nil:
			return decide.Contents{}, err
		case len(list.Items) > 0:
			e.watchInstances(crd, decide.InstancesOf(crd, version))
			return named(list), nil
		}
	}
	return decide.Contents{}, nil
}

// named says how many instances there are, and the names of the first. One that is being deleted is shown with the
// finalizers that it waits for: their controller may be gone.
func named(list *metav1.PartialObjectMetadataList) decide.Contents {
	count := int64(len(list.Items))
	if list.RemainingItemCount != nil {
		count += *list.RemainingItemCount
	}
	contents := counted(count, "instances")
	var names []string
	for i := range list.Items[:min(len(list.Items), namedAtMost)] {
		obj := &list.Items[i]
		name := strings.TrimPrefix(obj.Namespace+"/"+obj.Name, "/")
		if obj.DeletionTimestamp != nil && len(obj.Finalizers) > 0 {
			name += " being deleted, finalizers pending: " + shortened(obj.Finalizers)
		}
		names = append(names, name)
	}
	if more := count - int64(len(names)); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	contents.What += " (" + strings.Join(names, "; ") + ")"
	return contents
}

// claimsOf counts the volume claims of a StatefulSet.
func (e *Engine) claimsOf(ctx context.Context, set *unstructured.Unstructured) (decide.Contents, error) {
	var claims int64
	err := e.cluster.Reader.ListAll(ctx, volumeClaims, set.GetNamespace(), "", func(claim *metav1.PartialObjectMetadata) {
		if decide.IsClaimOf(set, claim.Name) {
			claims++
		}
	})
	return counted(claims, "volume claims"), err
}
