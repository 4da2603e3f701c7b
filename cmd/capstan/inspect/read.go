// Package inspect reads what the operator has published about its machines and
// tells it to people: where one is, what it waits for, how it came there. It
// changes nothing.
package inspect

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/controllers/view"
)

// Reader gets objects of one cluster.
type Reader struct {
	host   string
	client dynamic.Interface
}

// NewReader binds a reader to a cluster; nothing is sent.
func NewReader(config *rest.Config) (*Reader, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, &Error{"the kubeconfig cannot be used: " + err.Error(), "repair it, or name another with --kubeconfig", err}
	}
	return &Reader{host: config.Host, client: client}, nil
}

// View is what one look at a cluster has seen of a machine's instance.
type View struct {
	view.Seen
	Table view.Table
}

// Get reads an object. That it does not exist is no error.
func (r *Reader) Get(ctx context.Context, kind schema.GroupVersionResource, word, namespace, name string, into any) (bool, error) {
	object, err := r.client.Resource(kind).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && !NotServed(err):
		return false, nil
	case err != nil:
		return false, Explain(err, r.host, "get", word+" "+name)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		return false, &Error{word + " " + name + " cannot be read: " + err.Error(), "use the capstan of the release that runs on the cluster", err}
	}
	return true, nil
}
