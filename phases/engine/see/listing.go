package see

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiversion "k8s.io/apimachinery/pkg/version"

	"github.com/capstan-capi/capstan/phases/engine/throttle"
	"github.com/capstan-capi/capstan/phases/wire"
)

// metadataPage bounds how many objects are listed at a time. A list with a limit and without a selector is also one that
// kube-apiserver answers from etcd while it cannot fill its cache of the kind.
const metadataPage = 500

// onlyMetadataList asks for a list of nothing but metadata.
const onlyMetadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// NoListError says that a kind cannot be listed, although it was announced with that verb: its server refuses to, or
// answers with something else. That is how OpenShift serves ProjectRequests.
type NoListError struct{ Err error }

func (e *NoListError) Error() string { return e.Err.Error() }

func (e *NoListError) Unwrap() error { return e.Err }

// ListPage lists the metadata of objects that may be anybody's.
func (r *Reader) ListPage(ctx context.Context, gvr schema.GroupVersionResource, namespace string, how metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	text, err := r.Objects.Get().AbsPath(wire.Path(gvr, namespace)...).SpecificallyVersionedParams(&how, wire.MetaParameters, wire.MetaVersion).
		SetHeader("Accept", onlyMetadataList).Do(throttle.Apart(ctx)).Raw()
	list := &metav1.PartialObjectMetadataList{}
	switch {
	case refusesList(err):
		err = &NoListError{err}
	case err == nil:
		if wrong := json.Unmarshal(text, list); wrong != nil {
			err = &NoListError{fmt.Errorf("the answer is no list: %w", wrong)}
		} else if !strings.HasSuffix(list.Kind, "List") {
			err = &NoListError{fmt.Errorf("the answer is no list, but a %s", cmp.Or(list.Kind, "thing without a kind"))}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", gvr.GroupResource(), err)
	}
	return list, nil
}

// refusesList says that the server of a kind answered, and that asking again is of no use.
func refusesList(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch status.Status().Code {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusUnsupportedMediaType:
		return true
	}
	return false
}

// maxPages bounds a list, whatever its server says of its end: this many take a million objects.
const maxPages = 2000

// ListAll shows the metadata of all objects of a kind that a selector of labels selects, a page at a time. A list without an
// end is none.
func (r *Reader) ListAll(ctx context.Context, gvr schema.GroupVersionResource, namespace, labels string, show func(*metav1.PartialObjectMetadata)) error {
	page := ""
	for range maxPages {
		list, err := r.ListPage(ctx, gvr, namespace, metav1.ListOptions{LabelSelector: labels, Limit: metadataPage, Continue: page})
		if err != nil {
			return err
		}
		for i := range list.Items {
			show(&list.Items[i])
		}
		if list.Continue == "" {
			return nil
		}
		if len(list.Items) == 0 || list.Continue == page {
			return fmt.Errorf("listing %s: %w", gvr.GroupResource(), &NoListError{errors.New("the server says that there is more, and shows nothing new")})
		}
		page = list.Continue
	}
	return fmt.Errorf("listing %s: %w", gvr.GroupResource(), &NoListError{fmt.Errorf("there is still more after %d pages", maxPages)})
}

// HasNoList says that the server of a kind knows no list of it.
func HasNoList(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}

// Preferred leaves one version of every kind that can be listed, the most stable one: of those that kube-apiserver stores,
// and of those that another server has, which need not be the same objects.
func (a Discovered) Preferred() map[schema.GroupVersionKind]Resource {
	type whose struct {
		schema.GroupKind
		another bool
	}
	best := map[whose]string{}
	for gvk, served := range a.Kinds {
		kind := whose{gvk.GroupKind(), a.Aggregated[gvk.GroupVersion()]}
		known, has := best[kind]
		if served.Lists && (!has || apiversion.CompareKubeAwareVersionStrings(gvk.Version, known) > 0) {
			best[kind] = gvk.Version
		}
	}
	chosen := map[schema.GroupVersionKind]Resource{}
	for kind, version := range best {
		chosen[kind.WithVersion(version)] = a.Kinds[kind.WithVersion(version)]
	}
	return chosen
}
