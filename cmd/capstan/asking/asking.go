// Package asking is the logic of commands by which people ask something of a running operator: it looks, writes one act, or the word
// of another attempt, as an annotation of the ClusterAPI, and waits until the operator says what it makes of it. It writes nothing
// else, and decides nothing: whether somebody may is the API server's to say, and whether the act counts the operator's.
package asking

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// fieldManager is what the annotations are written as.
const fieldManager = "capstan-act"

var clusterAPIs = operatorv1alpha1.GroupVersion.WithResource("clusterapis")

// Cluster is what is read and written.
type Cluster struct {
	host, namespace, lease string
	dynamic                dynamic.Interface
	reviews                authenticationclient.SelfSubjectReviewsGetter
	leases                 coordinationclient.LeasesGetter
	clock                  *inspect.ServerClock
}

// NewCluster binds to a cluster, to the operator's namespace and to the Lease that it holds there while it works; nothing is sent.
func NewCluster(config *rest.Config, namespace, lease string) (*Cluster, error) {
	c := &Cluster{host: config.Host, namespace: namespace, lease: lease, clock: &inspect.ServerClock{}}
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 50, 100 // looking again and again is no reason to wait longer
	config = c.clock.Hears(config)
	var err error
	if c.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if c.reviews, err = authenticationclient.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if c.leases, err = coordinationclient.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return c, nil
}

// Looked is what there was before an act is written: who asks, when, what stands, and the version that a write is bound to.
type Looked struct {
	By   string
	At   time.Time
	Text string // of the act that is there, empty for none
	// Newest is the number of the newest listed revision, Current that of the current one; 0 for none.
	Newest, Current int64
	version         string
}

// Look finds out who asks, what time it is at the API server, and what is asked for already by an act of a name.
func (c *Cluster) Look(ctx context.Context, name string) (Looked, error) {
	review, err := c.reviews.SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return Looked{}, inspect.Explain(err, c.host, "create", "a SelfSubjectReview")
	}
	api, err := c.dynamic.Resource(clusterAPIs).Get(ctx, phases.Singleton, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && !inspect.NotServed(err):
		return Looked{}, &inspect.Error{What: "ClusterAPI " + phases.Singleton + " does not exist, so there is nothing to ask of", Next: "create it"}
	case err != nil:
		return Looked{}, inspect.Explain(err, c.host, "get", "ClusterAPI "+phases.Singleton)
	}
	typed := &operatorv1alpha1.ClusterAPI{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(api.Object, typed); err != nil {
		return Looked{}, fmt.Errorf("reading ClusterAPI %s: %w", phases.Singleton, err)
	}
	at, err := c.clock.Now()
	looked := Looked{By: review.Status.UserInfo.Username, At: at, Text: api.GetAnnotations()[acts.Annotation(name)], version: api.GetResourceVersion()}
	for _, entry := range typed.Status.Revisions {
		looked.Newest = max(looked.Newest, entry.Revision)
		if entry.Name == typed.Status.CurrentRevision {
			looked.Current = entry.Revision
		}
	}
	return looked, err
}

// Write sets an act, or takes it away if the text is empty. It is bound to what was looked at. With try the API server says
// whether it would take it, and stores nothing.
func (c *Cluster) Write(ctx context.Context, looked Looked, name, text string, try bool) error {
	var value any
	if text != "" {
		value = text
	}
	err := c.patch(ctx, map[string]any{"resourceVersion": looked.version, "annotations": map[string]any{acts.Annotation(name): value}}, try)
	if apierrors.IsConflict(err) {
		return &inspect.Error{What: "ClusterAPI " + phases.Singleton + " was changed since it was looked at, and nothing was written", Next: "run it again", Err: err}
	}
	return inspect.Explain(err, c.host, "patch", "ClusterAPI "+phases.Singleton)
}

// Again asks for another attempt, by a word that was not used before. It is bound to nothing that was looked at, since it changes no
// act, and an attempt is one whatever has changed meanwhile. With try the API server says whether it would take it, and stores
// nothing.
func (c *Cluster) Again(ctx context.Context, word string, try bool) error {
	err := c.patch(ctx, map[string]any{"annotations": map[string]any{phases.RetryAnnotation: word}}, try)
	return inspect.Explain(err, c.host, "patch", "ClusterAPI "+phases.Singleton)
}

func (c *Cluster) patch(ctx context.Context, metadata map[string]any, try bool) error {
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return fmt.Errorf("writing annotations: %w", err)
	}
	options := metav1.PatchOptions{FieldManager: fieldManager}
	if try {
		options.DryRun = []string{metav1.DryRunAll}
	}
	_, err = c.dynamic.Resource(clusterAPIs).Patch(ctx, phases.Singleton, types.MergePatchType, patch, options)
	return err
}
