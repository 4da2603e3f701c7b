package live

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

// BeyondError says that a definition would cost too much to be judged: API servers store what comes to five hundred times its bytes.
type BeyondError struct {
	Name       string
	UID        types.UID
	Generation int64
	Cause      error
}

func (e *BeyondError) Error() string {
	return fmt.Sprintf("CRD %s is too large to be judged: %v", e.Name, e.Cause)
}

func (e *BeyondError) Unwrap() error { return e.Cause }

// Definition reads a definition as an API server has it. The error is a [BeyondError] if it is there and too large.
func Definition(ctx context.Context, from client.Reader, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	read := &definition{}
	read.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	if err := from.Get(ctx, client.ObjectKey{Name: name}, read); err != nil {
		return nil, fmt.Errorf("reading CRD %s: %w", name, err)
	}
	if read.beyond != nil {
		return nil, &BeyondError{Name: name, UID: read.of.UID, Generation: read.of.Generation, Cause: read.beyond}
	}
	return read.of, nil
}

// definition is read as an object of which a client does not know the type, since such a one is handed the text before anything
// is made of it.
type definition struct {
	unstructured.Unstructured

	of     *apiextensionsv1.CustomResourceDefinition // no more than its metadata, if it is beyond bounds
	beyond error
}

// UnmarshalJSON looks through the text before it is decoded.
func (d *definition) UnmarshalJSON(text []byte) error {
	d.of = &apiextensionsv1.CustomResourceDefinition{}
	if _, d.beyond = crdschema.SizeOf(text); d.beyond == nil {
		return kjson.UnmarshalCaseSensitivePreserveInts(text, d.of)
	}
	meta := &metav1.PartialObjectMetadata{}
	err := kjson.UnmarshalCaseSensitivePreserveInts(text, meta)
	d.of.ObjectMeta = meta.ObjectMeta
	return err
}
