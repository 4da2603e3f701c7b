package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/phases/apiproxy"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

const (
	// page is how many objects an answer has at most.
	page = 500
	// most is how many objects of one kind are taken in: a namespace with more is not moved.
	most = 20_000
	// freshFor is how long what was discovered counts.
	freshFor = 30 * time.Second
)

// Client is an API server.
type Client struct {
	config    *rest.Config
	dynamic   dynamic.Interface
	metadata  metadata.Interface
	discovery discovery.DiscoveryInterface
	typed     kubernetes.Interface
	now       func() time.Time
	most      int
	// proxied reaches the server through a proxy as components have it, with the operator's identity, which may speak as theirs.
	proxied http.RoundTripper

	mu         sync.Mutex
	discovered []*metav1.APIResourceList
	// silent are the groups that did not answer at the time.
	silent map[schema.GroupVersion]error
	at     time.Time
	as     map[string]dynamic.Interface
}

// New is a client of an API server.
func New(config *rest.Config, now func() time.Time) (*Client, error) {
	c := &Client{config: config, now: now, most: most, as: map[string]dynamic.Interface{}}
	var err error
	if c.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if c.metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client of metadata: %w", err)
	}
	if c.typed, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client of reviews: %w", err)
	}
	c.discovery = c.typed.Discovery()
	// Its metrics are those of a sidecar, which the operator is not.
	proxy, err := apiproxy.New(config, prometheus.NewRegistry(), logr.Discard())
	if err != nil {
		return nil, fmt.Errorf("making a proxy as components have it: %w", err)
	}
	c.proxied = proxy.Within()
	return c, nil
}

func resource(k phases.Kind) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: k.Group, Version: k.Version(), Resource: k.Resource}
}

func in(c dynamic.Interface, k phases.Kind, namespace string) dynamic.ResourceInterface {
	if k.Namespaced && namespace != "" {
		return c.Resource(resource(k)).Namespace(namespace)
	}
	return c.Resource(resource(k))
}

// Get reads one object.
func (c *Client) Get(ctx context.Context, k phases.Kind, namespace, name string) (*unstructured.Unstructured, error) {
	return in(c.dynamic, k, namespace).Get(ctx, name, metav1.GetOptions{})
}

// List reads objects in pages.
func (c *Client) List(ctx context.Context, k phases.Kind, namespace, selector string) ([]*unstructured.Unstructured, error) {
	return c.list(ctx, in(c.dynamic, k, namespace), k, selector)
}

func (c *Client) list(ctx context.Context, from dynamic.ResourceInterface, k phases.Kind, selector string) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for next := ""; ; {
		got, err := from.List(ctx, metav1.ListOptions{Limit: page, Continue: next, LabelSelector: selector})
		if err != nil {
			return nil, err
		}
		for i := range got.Items {
			all = append(all, &got.Items[i])
		}
		if len(all) > c.most {
			return nil, &phases.TooManyError{Kind: k, Most: c.most}
		}
		if next = got.GetContinue(); next == "" {
			return all, nil
		}
	}
}

// Write sends one write with its preconditions.
func (c *Client) Write(ctx context.Context, w phases.Write) (*unstructured.Unstructured, error) {
	through, dry := c.dynamic, []string(nil)
	if w.As != "" {
		var err error
		if through, err = c.impersonating(w.As); err != nil {
			return nil, err
		}
		dry = []string{metav1.DryRunAll}
	}
	to := in(through, w.Kind, w.Namespace)
	var sub []string
	if w.Status {
		sub = []string{"status"}
	}
	body := &unstructured.Unstructured{Object: w.Body}
	switch w.Verb {
	case phases.Create:
		return to.Create(ctx, body, metav1.CreateOptions{FieldManager: phases.Manager, DryRun: dry})
	case phases.Replace:
		o := body.DeepCopy()
		o.SetUID(w.UID)
		o.SetResourceVersion(w.ResourceVersion)
		return to.Update(ctx, o, metav1.UpdateOptions{FieldManager: phases.Manager, DryRun: dry}, sub...)
	case phases.Patch:
		patch, err := bound(w)
		if err != nil {
			return nil, err
		}
		return to.Patch(ctx, w.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: phases.Manager, DryRun: dry}, sub...)
	case phases.Delete:
		orphan := metav1.DeletePropagationOrphan
		options := metav1.DeleteOptions{PropagationPolicy: &orphan, Preconditions: &metav1.Preconditions{UID: &w.UID}, DryRun: dry}
		if w.ResourceVersion != "" {
			options.Preconditions.ResourceVersion = &w.ResourceVersion
		}
		return nil, to.Delete(ctx, w.Name, options)
	}
	return nil, fmt.Errorf("%q is no verb", w.Verb)
}

// bound is a patch that holds for the object as it was seen.
func bound(w phases.Write) ([]byte, error) {
	body := maps.Clone(w.Body)
	about, _ := body["metadata"].(map[string]any)
	if about = maps.Clone(about); about == nil {
		about = map[string]any{}
	}
	about["uid"], about["resourceVersion"] = string(w.UID), w.ResourceVersion
	body["metadata"] = about
	patch, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("writing a patch of %s %s: %w", w.Kind.Resource, w.Name, err)
	}
	return patch, nil
}

// impersonating is a client that speaks as a service account.
func (c *Client) impersonating(account string) (dynamic.Interface, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.as[account]; known != nil {
		return known, nil
	}
	config := rest.CopyConfig(c.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: account} // the API server knows its groups
	made, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client that speaks as %s: %w", account, err)
	}
	const known = 64
	if len(c.as) >= known {
		clear(c.as)
	}
	c.as[account] = made
	return made, nil
}

// Probe lists what a component's account may list, through a proxy as the component has it: the same code, in this process.
func (c *Client) Probe(ctx context.Context, account string, k phases.Kind, namespace string) ([]*unstructured.Unstructured, error) {
	through, err := dynamic.NewForConfig(&rest.Config{
		Host: apiproxy.WithinHost, Transport: c.proxied, QPS: -1, UserAgent: c.config.UserAgent, Impersonate: rest.ImpersonationConfig{UserName: account},
	})
	if err != nil {
		return nil, fmt.Errorf("making a client that speaks as %s through a proxy: %w", account, err)
	}
	return c.list(ctx, in(through, k, namespace), k, "")
}
