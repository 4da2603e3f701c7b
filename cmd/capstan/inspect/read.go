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
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/controllers/view"
)

// Reader gets objects of one cluster.
type Reader struct {
	host   string
	client dynamic.Interface
	names  metadata.Interface
}

// NewReader binds a reader to a cluster; nothing is sent.
func NewReader(config *rest.Config) (*Reader, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, unusable(err)
	}
	names, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, unusable(err)
	}
	return &Reader{host: config.Host, client: client, names: names}, nil
}

// View is what one look at a cluster has seen of a machine's instance.
type View struct {
	view.Seen
	Table view.Table
	// Instance names the object that the machine has the instance for; empty for a machine that has one instance only.
	Instance string
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

// Names lists the first few names of objects that have an instance each, and counts the others: -1 for some.
func (r *Reader) Names(ctx context.Context, of view.Instances, few int64) (names []string, others int64, err error) {
	list, err := r.names.Resource(of.Kind).List(ctx, metav1.ListOptions{Limit: few})
	if err != nil {
		return nil, 0, Explain(err, r.host, "list", of.Word+"s")
	}
	for _, object := range list.Items {
		names = append(names, of.Key(object.Namespace, object.Name))
	}
	switch {
	case list.RemainingItemCount != nil:
		others = *list.RemainingItemCount
	case list.Continue != "":
		others = -1
	}
	return names, others, nil
}
