package house

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// nowhere is the version of a list that nobody has made: a watch from there begins with all that is there.
	nowhere = "0"
	// idleFor is how long nothing is looked for where a reflector does not say how long to watch.
	idleFor = 5 * time.Minute
)

// optional takes a kind that the API server does not have for one without objects. It is looked for again as often as a
// watch on it would be opened again. Of a kind that was served the objects stay until it is confirmed to be gone.
type optional struct {
	toolscache.ListerWatcher
	next    toolscache.ListerWatcherWithContext
	of      client.Object
	arrival *Arrival
	// was says that the kind was served: then it is asked whether it is gone.
	was atomic.Bool
}

func optionally(next toolscache.ListerWatcher, of client.Object, arrival *Arrival) toolscache.ListerWatcher {
	return &optional{ListerWatcher: next, next: toolscache.ToListerWatcherWithContext(next), of: of, arrival: arrival}
}

// IsWatchListSemanticsUnSupported says of the client what the reflector asks.
func (o *optional) IsWatchListSemanticsUnSupported() bool {
	return watchlist.DoesClientNotSupportWatchListSemantics(o.ListerWatcher)
}

func (o *optional) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := o.next.ListWithContext(ctx, options)
	if apierrors.IsNotFound(err) {
		if err := o.checkGone(ctx); err != nil {
			return nil, err
		}
		none := &unstructured.UnstructuredList{}
		none.SetResourceVersion(nowhere)
		return none, nil
	}
	o.answered(err)
	return list, err
}

// answered notes that the kind is served, unless there was an error.
func (o *optional) answered(err error) {
	if err == nil {
		o.was.Store(true)
		o.arrival.answered()
	}
}

// checkGone is an error if a kind that was served is not gone.
func (o *optional) checkGone(ctx context.Context) error {
	if !o.was.Load() {
		return nil
	}
	err := o.arrival.isGone(ctx)
	o.was.Store(err != nil)
	return err
}

func (o *optional) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	events, err := o.next.WatchWithContext(ctx, options)
	lists := options.SendInitialEvents != nil && *options.SendInitialEvents
	switch {
	case !apierrors.IsNotFound(err):
		o.answered(err)
		return events, err
	case !lists && options.ResourceVersion != nowhere:
		return nil, apierrors.NewResourceExpired("the kind is gone, and its objects with it")
	}
	if err := o.checkGone(ctx); err != nil {
		return nil, err
	}
	idle := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 1})
	if lists {
		end, err := o.endOfList()
		if err != nil {
			return nil, err
		}
		idle.Action(watch.Bookmark, end)
	}
	pause := idleFor
	if options.TimeoutSeconds != nil {
		pause = time.Duration(*options.TimeoutSeconds) * time.Second
	}
	time.AfterFunc(o.arrival.awaits(pause, idle.Stop), idle.Stop)
	return idle, nil
}

// endOfList is what the API server sends when it has sent all that is there.
func (o *optional) endOfList() (runtime.Object, error) {
	end, is := reflect.New(reflect.TypeOf(o.of).Elem()).Interface().(runtime.Object)
	if !is {
		return nil, fmt.Errorf("%T is no object", o.of)
	}
	end.GetObjectKind().SetGroupVersionKind(o.of.GetObjectKind().GroupVersionKind())
	about, err := meta.Accessor(end)
	if err != nil {
		return nil, err
	}
	about.SetResourceVersion(nowhere)
	about.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	return end, nil
}
