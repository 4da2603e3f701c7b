package act

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/see"
	"github.com/capstan-capi/capstan/phases/wire"
)

// patch sends a change of one object; onlyRefusal says that nobody needs to know what comes of it.
func (e *Engine) patch(ctx context.Context, r see.Resource, key decide.Key, kind types.PatchType, body []byte, opts metav1.PatchOptions, onlyRefusal bool) (*see.Object, error) {
	request := e.cluster.Reader.Objects.Patch(kind).AbsPath(append(wire.Path(r.GVR, key.Namespace), key.Name)...).
		SpecificallyVersionedParams(&opts, wire.MetaParameters, wire.MetaVersion).Body(body)
	return see.Answer(ctx, request, onlyRefusal)
}

// post creates an object by a POST.
func (e *Engine) post(ctx context.Context, r see.Resource, key decide.Key, body []byte, opts metav1.CreateOptions) (*see.Object, error) {
	request := e.cluster.Reader.Objects.Post().AbsPath(wire.Path(r.GVR, key.Namespace)...).
		SpecificallyVersionedParams(&opts, wire.MetaParameters, wire.MetaVersion).SetHeader("Content-Type", "application/json").Body(body)
	return see.Answer(ctx, request, len(opts.DryRun) > 0)
}
