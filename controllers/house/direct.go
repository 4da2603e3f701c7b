package house

import (
	"context"
	"net/http"
	"reflect"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"

	"github.com/capstan-capi/capstan/phases/wire"
)

// direct has watches of a kind decoded by package wire, and leaves lists alone.
type direct struct {
	toolscache.ListerWatcher
	lists  toolscache.ListerWatcherWithContext
	events rest.Interface
	path   []string
}

// directly has the watches of a busy kind decoded by package wire. It must be one whose objects are watched in one place, as a
// whole. Where no client can be made, the ordinary one says why with its first request.
func (k Kind) directly(lists toolscache.ListerWatcher, cfg *rest.Config, log logr.Logger) toolscache.ListerWatcher {
	if cfg == nil || !k.Busy {
		return lists
	}
	namespace, one := k.place()
	if !one {
		return lists
	}
	var events rest.Interface
	client, err := rest.HTTPClientFor(cfg)
	if err == nil {
		events, err = wire.Client(cfg, client, wire.Objects{New: k.empty, Unread: k.Unread})
	}
	if err != nil {
		log.Error(err, "Watches are decoded in the ordinary way", "kind", k.of().Kind)
		return lists
	}
	resource, _ := meta.UnsafeGuessKindToResource(k.of())
	return &direct{ListerWatcher: lists, lists: toolscache.ToListerWatcherWithContext(lists), events: events, path: wire.Path(resource, namespace)}
}

// place is the namespace in which all objects are watched, empty for all or for none; one says that they are watched as a whole.
func (k Kind) place() (namespace string, one bool) {
	switch {
	case len(k.Only) == 0:
		return "", true
	case len(k.Only) == 1 && k.Namespaced && k.Only[0].Name == "":
		return k.Only[0].Namespace, true
	}
	return "", false
}

// empty is an object of the kind.
func (k Kind) empty() runtime.Object {
	if k.untyped() {
		return &unstructured.Unstructured{}
	}
	object, _ := reflect.New(reflect.TypeOf(k.Object).Elem()).Interface().(runtime.Object)
	return object
}

// IsWatchListSemanticsUnSupported says of the client what the reflector asks.
func (d *direct) IsWatchListSemanticsUnSupported() bool {
	return watchlist.DoesClientNotSupportWatchListSemantics(d.ListerWatcher)
}

func (d *direct) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	return d.lists.ListWithContext(ctx, o)
}

func (d *direct) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	o.Watch = true
	return d.events.Verb(http.MethodGet).AbsPath(d.path...).SpecificallyVersionedParams(&o, wire.MetaParameters, wire.MetaVersion).Watch(ctx)
}
