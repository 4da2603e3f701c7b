package see

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/phases/wire"
)

// onlyMetadata asks for objects without anything but their metadata.
const onlyMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// View is what a watch shows: the objects of a resource, in one namespace or all, that have a label or a name.
type View struct {
	GVR          schema.GroupVersionResource
	Namespace    string // all if empty
	Labels       string // selector
	Fields       string // selector
	OnlyMetadata bool   // nothing but it
}

func (r *Reader) request(v View, opts metav1.ListOptions) *rest.Request {
	opts.LabelSelector, opts.FieldSelector = v.Labels, v.Fields
	request := r.Objects.Get().AbsPath(wire.Path(v.GVR, v.Namespace)...).SpecificallyVersionedParams(&opts, wire.MetaParameters, wire.MetaVersion)
	if v.OnlyMetadata {
		request.SetHeader("Accept", onlyMetadata)
	}
	return request
}

func (r *Reader) listView(ctx context.Context, v View, opts metav1.ListOptions) (*objectList, error) {
	got, err := r.request(v, opts).Do(ctx).Get()
	if err != nil {
		return nil, err
	}
	list, isList := got.(*objectList)
	if !isList {
		return nil, fmt.Errorf("listing %s: %w", v.GVR.GroupResource(), &NoListError{errors.New("the answer is no list")})
	}
	return list, nil
}

func (r *Reader) watchView(ctx context.Context, v View, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return r.request(v, opts).Watch(ctx)
}
