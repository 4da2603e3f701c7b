package watching

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/cmd/capstan-provider/standing"
	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
)

// Watcher looks at one OpenShiftControlPlane and what belongs to its cluster.
type Watcher struct {
	Client dynamic.Interface
	Host   string
	Key    types.NamespacedName
	// Tell is given every change, in order.
	Tell func(Change) error
	Now  func() time.Time
	// Patience bounds the first request; zero for no bound. What follows is waited for.
	Patience time.Duration

	events chan event
	seen   *seen
	// problems are what was told of each kind and has not ended.
	problems map[string]string
	started  bool
}

// event is what one of the watches has seen.
type event struct {
	kind   string
	object *unstructured.Unstructured
	gone   bool
	err    error
}

// New binds a Watcher to a management plane; nothing is sent.
func New(config *rest.Config, key types.NamespacedName, tell func(Change) error) (*Watcher, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("building a client: %w", err)
	}
	return &Watcher{Client: client, Host: config.Host, Key: key, Tell: tell, Now: time.Now}, nil
}

// Run tells changes until the cluster is installed, with Step zero, or does not go on, with the step that it has stopped at. It ends with
// an error if there is no such object, if the object is gone, or with that of the context.
func (w *Watcher) Run(ctx context.Context) (standing.Step, error) {
	word := v1alpha1.ControlPlaneKind + " " + w.Key.String()
	err := w.first(ctx)
	if apierrors.IsNotFound(err) && !inspect.NotServed(err) {
		return 0, &inspect.Error{What: word + " does not exist", Next: "apply it, or look for its name with `kubectl get -A openshiftcontrolplanes`", Err: err}
	} else if err != nil {
		return 0, standing.Explain(err, w.Host, "get", word)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.events, w.seen, w.problems = make(chan event), newSeen(), map[string]string{}
	w.start(ctx, standing.ControlPlanes, func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, w.Key.Name).String()
	})
	for {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case e := <-w.events:
			if step, ended, err := w.take(ctx, e); ended || err != nil {
				return step, err
			}
		}
	}
}

// first asks once whether the object is there.
func (w *Watcher) first(ctx context.Context) error {
	if w.Patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.Patience)
		defer cancel()
	}
	_, err := w.Client.Resource(standing.ControlPlanes).Namespace(w.Key.Namespace).Get(ctx, w.Key.Name, metav1.GetOptions{})
	return err
}

// take tells what an event has brought.
func (w *Watcher) take(ctx context.Context, e event) (step standing.Step, ended bool, err error) {
	if e.err != nil {
		return 0, false, w.problem(e)
	}
	delete(w.problems, e.kind)
	changes := w.seen.changes
	if e.gone {
		changes = w.seen.gone
	}
	for _, change := range changes(e.object, w.Now()) {
		if err := w.Tell(change); err != nil {
			return 0, false, err
		}
	}
	if e.kind != standing.ControlPlanes.Resource {
		return 0, false, nil
	}
	if e.gone {
		return 0, false, fmt.Errorf("%s %s is gone", v1alpha1.ControlPlaneKind, w.Key)
	}
	plane := planeOf(e.object)
	if cluster := standing.ClusterOf(plane); cluster != "" && !w.started {
		w.started = true
		w.startOthers(ctx, cluster)
	}
	if plane.Status.State == string(guards.Installed) {
		return 0, true, nil
	}
	step, ended = standing.Stopped(plane)
	return step, ended, nil
}

// problem tells once why a kind cannot be watched. It is tried again for ever.
func (w *Watcher) problem(e event) error {
	explained := standing.Explain(e.err, w.Host, "watch", e.kind)
	text := explained.Error()
	if told, is := errors.AsType[*inspect.Error](explained); is {
		text = told.What
	}
	if w.problems[e.kind] == text {
		return nil
	}
	w.problems[e.kind] = text
	return w.Tell(Change{At: w.Now(), Problem: text})
}

// startOthers watches what belongs to a Cluster.
func (w *Watcher) startOthers(ctx context.Context, cluster string) {
	w.start(ctx, standing.Clusters, func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, cluster).String()
	})
	for _, kind := range []schema.GroupVersionResource{standing.Machines, standing.Configs} {
		w.start(ctx, kind, func(o *metav1.ListOptions) {
			o.LabelSelector = labels.Set{clusterv1.ClusterNameLabel: cluster}.String()
		})
	}
}

// start watches a kind until ctx ends.
func (w *Watcher) start(ctx context.Context, kind schema.GroupVersionResource, chosen func(*metav1.ListOptions)) {
	informer := dynamicinformer.NewFilteredDynamicInformer(w.Client, kind, w.Key.Namespace, 0, cache.Indexers{}, chosen).Informer()
	send := func(e event) {
		e.kind = kind.Resource
		select {
		case w.events <- e:
		case <-ctx.Done():
		}
	}
	put := func(object any) {
		if is, ok := object.(*unstructured.Unstructured); ok {
			send(event{object: is})
		}
	}
	// Neither fails before the informer runs.
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    put,
		UpdateFunc: func(_, object any) { put(object) },
		DeleteFunc: func(object any) {
			if last, is := object.(cache.DeletedFinalStateUnknown); is {
				object = last.Obj
			}
			if is, ok := object.(*unstructured.Unstructured); ok {
				send(event{object: is, gone: true})
			}
		},
	})
	_ = informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		send(event{err: err})
	})
	go informer.RunWithContext(ctx)
}
