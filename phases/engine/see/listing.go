package see

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiversion "k8s.io/apimachinery/pkg/version"

	"github.com/capstan-capi/capstan/phases/engine/throttle"
)

// metadataPage bounds how many objects are listed at a time. A list with a limit and without a selector is also one that
// kube-apiserver answers from etcd while it cannot fill its cache of the kind.
const metadataPage = 500

// ListPage lists the metadata of objects that may be anybody's.
func (r *Reader) ListPage(ctx context.Context, gvr schema.GroupVersionResource, namespace string, how metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	list, err := r.Metadata.Resource(gvr).Namespace(namespace).List(throttle.Apart(ctx), how)
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", gvr.GroupResource(), err)
	}
	return list, nil
}

// ListAll shows the metadata of all objects of a kind, a page at a time.
func (r *Reader) ListAll(ctx context.Context, gvr schema.GroupVersionResource, namespace string, show func(*metav1.PartialObjectMetadata)) error {
	for page := ""; ; {
		list, err := r.ListPage(ctx, gvr, namespace, metav1.ListOptions{Limit: metadataPage, Continue: page})
		if err != nil {
			return err
		}
		for i := range list.Items {
			show(&list.Items[i])
		}
		if page = list.Continue; page == "" {
			return nil
		}
	}
}

// Preferred leaves one version of every kind that can be listed, the most stable one.
func Preferred(kinds map[schema.GroupVersionKind]Resource) map[schema.GroupVersionKind]Resource {
	best := map[schema.GroupKind]string{}
	for gvk, served := range kinds {
		known, has := best[gvk.GroupKind()]
		if served.Lists && (!has || apiversion.CompareKubeAwareVersionStrings(gvk.Version, known) > 0) {
			best[gvk.GroupKind()] = gvk.Version
		}
	}
	chosen := map[schema.GroupVersionKind]Resource{}
	for kind, version := range best {
		chosen[kind.WithVersion(version)] = kinds[kind.WithVersion(version)]
	}
	return chosen
}
