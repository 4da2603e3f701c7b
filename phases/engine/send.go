package engine

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// patch sends a change of one object.
func (e *Engine) patch(ctx context.Context, r resource, key decide.Key, kind types.PatchType, body []byte, opts metav1.PatchOptions) (*observed, error) {
	request := e.cluster.reader.objects.Patch(kind).AbsPath(append(pathOf(r.gvr, key.Namespace), key.Name)...).
		SpecificallyVersionedParams(&opts, metaParameters, metaVersion).Body(body)
	return answer(ctx, request, opts.DryRun)
}

// post creates an object by a POST.
func (e *Engine) post(ctx context.Context, r resource, key decide.Key, body []byte, opts metav1.CreateOptions) (*observed, error) {
	request := e.cluster.reader.objects.Post().AbsPath(pathOf(r.gvr, key.Namespace)...).
		SpecificallyVersionedParams(&opts, metaParameters, metaVersion).SetHeader("Content-Type", "application/json").Body(body)
	return answer(ctx, request, opts.DryRun)
}
