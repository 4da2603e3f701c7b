package see

import (
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/wire"
)

// Reader makes all requests that read.
type Reader struct {
	Objects   rest.Interface
	config    *rest.Config
	transport http.RoundTripper
}

// NewReader reads with a client that has credentials and user agent.
func NewReader(config *rest.Config, client *http.Client) (*Reader, error) {
	r := &Reader{config: config, transport: client.Transport}
	var err error
	if r.Objects, err = wire.Client(config, client, observer{}); err != nil {
		return nil, fmt.Errorf("making a client of objects: %w", err)
	}
	return r, nil
}

// Read gets the object itself, which the watches may not show, or not yet as it is; nil if there is none.
func (r *Reader) Read(ctx context.Context, of Resource, key decide.Key) (*Object, error) {
	return there(ctx, r.Objects.Get().AbsPath(append(wire.Path(of.GVR, key.Namespace), key.Name)...))
}

// ReadMetadata is Read of nothing but the metadata.
func (r *Reader) ReadMetadata(ctx context.Context, of Resource, key decide.Key) (*Object, error) {
	return there(ctx, r.Objects.Get().AbsPath(append(wire.Path(of.GVR, key.Namespace), key.Name)...).SetHeader("Accept", onlyMetadata))
}

func there(ctx context.Context, request *rest.Request) (*Object, error) {
	o, err := Answer(ctx, request, false)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return o, err
}

// Answer sends a request that is answered with an object. Of one of which only the refusal is of interest, the API server need
// not write out what it would have made, nor anybody read it.
func Answer(ctx context.Context, request *rest.Request, onlyRefusal bool) (*Object, error) {
	if onlyRefusal {
		request.SetHeader("Accept", onlyMetadata)
	}
	got, err := request.Do(ctx).Get()
	if err != nil {
		return nil, err
	}
	o, isObject := got.(*Object)
	if !isObject {
		return nil, fmt.Errorf("the API server answered with %T where an object belongs", got)
	}
	return o, nil
}
