package support

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
)

// cluster is what is read, and nothing is written.
type cluster struct {
	host    string
	objects dynamic.Interface
	names   metadata.Interface
	core    corev1client.CoreV1Interface
}

func newCluster(config *rest.Config) (*cluster, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 50, 100
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return onlyGets{next} })
	c := &cluster{host: config.Host}
	var err error
	if c.objects, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if c.names, err = metadata.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if c.core, err = corev1client.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return c, nil
}

// onlyGets refuses what this package never asks for before it is sent, whatever the rest of it is changed to.
type onlyGets struct{ next http.RoundTripper }

var errNotAsked = errors.New("capstan support sends no such request")

func (o onlyGets) RoundTrip(r *http.Request) (*http.Response, error) {
	for part := range strings.SplitSeq(r.URL.Path, "/") {
		if part == "secrets" || part == "exec" || part == "proxy" {
			return nil, errNotAsked
		}
	}
	if r.Method != http.MethodGet || r.URL.Query().Has("watch") {
		return nil, errNotAsked
	}
	return o.next.RoundTrip(r)
}

// LackError is why something is not in an archive. It quotes no answer: what proxies, registries and token servers say may hold
// what they were given.
type LackError struct{ Why, Right string }

func (e *LackError) Error() string { return e.Why }

// lackOf tells of an error without what it says.
func lackOf(err error, verb string, what schema.GroupResource, namespace, name string) error {
	right := verb + " " + what.String()
	if name != "" {
		right += " " + name
	}
	if namespace != "" {
		right += " in namespace " + namespace
	}
	var network net.Error
	var transport *url.Error
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return nil
	case apierrors.IsForbidden(err):
		return &LackError{Why: "not allowed to " + right, Right: right}
	case apierrors.IsUnauthorized(err):
		return &LackError{Why: "the API server does not accept the credentials"}
	case inspect.NotServed(err):
		return &LackError{Why: "the cluster does not know " + what.String()}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &transport), errors.As(err, &network):
		return &LackError{Why: "the API server did not answer when asked to " + right}
	case errors.As(err, &status):
		return &LackError{Why: fmt.Sprintf("the API server answered %d %s when asked to %s", status.Status().Code, status.Status().Reason, right)}
	}
	return &LackError{Why: "its answer could not be read when asked to " + right}
}

// get reads an object into a typed one. That it does not exist is no error.
func (c *cluster) get(ctx context.Context, kind schema.GroupVersionResource, namespace, name string, into any) (found bool, err error) {
	object, err := c.objects.Resource(kind).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && !inspect.NotServed(err) {
		return false, nil
	}
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into)
	}
	return err == nil, lackOf(err, "get", kind.GroupResource(), namespace, name)
}

// The bounds of one list.
const (
	page    = 200
	maxList = 5_000
)

// list gives objects to a function, page by page, and says whether these are all.
func (c *cluster) list(ctx context.Context, kind schema.GroupVersionResource, namespace, selector string, each func(*unstructured.Unstructured) error) (all bool, err error) {
	options := metav1.ListOptions{Limit: page, LabelSelector: selector}
	for seen := 0; ; {
		list, err := c.objects.Resource(kind).Namespace(namespace).List(ctx, options)
		if err != nil {
			return false, lackOf(err, "list", kind.GroupResource(), namespace, "")
		}
		for i := range list.Items {
			if err := each(&list.Items[i]); err != nil {
				return false, lackOf(err, "list", kind.GroupResource(), namespace, "")
			}
		}
		seen += len(list.Items)
		if options.Continue = list.GetContinue(); options.Continue == "" {
			return true, nil
		}
		if seen >= maxList {
			return false, nil
		}
	}
}

// typed reads an object as a kind.
func typed[T any](object *unstructured.Unstructured) (*T, error) {
	into := new(T)
	return into, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into)
}
