package engine

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// pathOf is where the API server keeps the objects of a resource, in one namespace or all.
func pathOf(gvr schema.GroupVersionResource, namespace string) []string {
	path := []string{"apis", gvr.Group, gvr.Version}
	if gvr.Group == "" {
		path = []string{"api", gvr.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return append(path, gvr.Resource)
}

// read gets the object itself, which the watches may not show, or not yet as it is; nil if there is none.
func (e *Engine) read(ctx context.Context, r resource, key decide.Key) (*observed, error) {
	o, err := answer(ctx, e.observer.Get().AbsPath(append(pathOf(r.gvr, key.Namespace), key.Name)...), nil)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return o, err
}

// patch sends a change of one object.
func (e *Engine) patch(ctx context.Context, r resource, key decide.Key, kind types.PatchType, body []byte, opts metav1.PatchOptions) (*observed, error) {
	request := e.observer.Patch(kind).AbsPath(append(pathOf(r.gvr, key.Namespace), key.Name)...).
		SpecificallyVersionedParams(&opts, metaParameters, metaVersion).Body(body)
	return answer(ctx, request, opts.DryRun)
}

// post creates an object by a POST.
func (e *Engine) post(ctx context.Context, r resource, key decide.Key, body []byte, opts metav1.CreateOptions) (*observed, error) {
	request := e.observer.Post().AbsPath(pathOf(r.gvr, key.Namespace)...).
		SpecificallyVersionedParams(&opts, metaParameters, metaVersion).SetHeader("Content-Type", "application/json").Body(body)
	return answer(ctx, request, opts.DryRun)
}

// answer sends a request that is answered with an object. Of one without effect only the refusal is of interest, so that
// the API server need not write out what it would have made, nor anybody read it.
func answer(ctx context.Context, request *rest.Request, dryRun []string) (*observed, error) {
	if len(dryRun) > 0 {
		request.SetHeader("Accept", onlyMetadata)
	}
	got, err := request.Do(ctx).Get()
	if err != nil {
		return nil, err
	}
	o, isObject := got.(*observed)
	if !isObject {
		return nil, fmt.Errorf("the API server answered with %T where an object belongs", got)
	}
	return o, nil
}
