package house

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capstan-capi/capstan/phases/newest"
)

// Kind is a kind of objects that a machine speaks of through the manager's client.
type Kind struct {
	Version schema.GroupVersion
	// Object is a PartialObjectMetadata that names its kind where no more than the metadata is read, and an Unstructured that
	// does where the house knows no type of the kind.
	Object     client.Object
	List       client.ObjectList
	Namespaced bool
	// Uncached says that objects are written, or read from the API server itself, and never from a cache.
	Uncached bool
	// Optional says that a cluster may lack the kind, and has no objects of it then.
	Optional bool
	// Busy says that its objects are large, or that many of them change: what watches send is read by package wire.
	Busy bool
	// Arrival, of an optional kind, is told when the API server may have begun to serve it; nil looks for it now and then.
	Arrival *Arrival
	// Keep cuts an object down to what is read of it, before it is kept; nil for all of it.
	Keep func(client.Object)
	// Unread are fields of a busy kind that are not even decoded of what watches send, since Keep leaves nothing of them; see
	// [wire.Objects].
	Unread []string
	// Only are the objects that are read, one without a name standing for all of its namespace; none stands for all.
	Only []client.ObjectKey
}

func (k Kind) of() schema.GroupVersionKind {
	if k.untyped() {
		return k.Object.GetObjectKind().GroupVersionKind()
	}
	return k.Version.WithKind(reflect.TypeOf(k.Object).Elem().Name())
}

// untyped says that the kind stands in the object, not in its type.
func (k Kind) untyped() bool {
	switch k.Object.(type) {
	case *metav1.PartialObjectMetadata, *unstructured.Unstructured:
		return true
	}
	return false
}

// is says that a kind is the one of an object that is to be cached, and read of it what the kind says.
func (k Kind) is(of runtime.Object) bool {
	return reflect.TypeOf(k.Object) == reflect.TypeOf(of) && (!k.untyped() || of.GetObjectKind().GroupVersionKind() == k.of())
}

// Kinds are those of all machines. What is not among them cannot be read,
// written or watched through the manager: its scheme knows nothing else.
type Kinds []Kind

// Scheme knows the kinds, and no other of their groups.
func (kinds Kinds) Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, k := range kinds {
		if !k.untyped() {
			scheme.AddKnownTypes(k.Version, k.Object, k.List)
		}
		metav1.AddToGroupVersion(scheme, k.Version)
	}
	return scheme
}

// Mapper knows the resources of the kinds, so that a start asks the API server
// for none of them.
func (kinds Kinds) Mapper(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	var versions []schema.GroupVersion
	for _, k := range kinds {
		versions = append(versions, k.Version)
	}
	mapper := meta.NewDefaultRESTMapper(versions)
	for _, k := range kinds {
		scope := meta.RESTScopeRoot
		if k.Namespaced {
			scope = meta.RESTScopeNamespace
		}
		of := k.of()
		mapper.Add(of, scope)
		// A cache of some namespaces asks whether a list is of a kind that has namespaces, as discovery can tell it.
		mapper.Add(of.GroupVersion().WithKind(of.Kind+"List"), scope)
	}
	return mapper, nil
}

// Cache has the manager keep only what is read. The configuration is that of the manager.
func (kinds Kinds) Cache(cfg *rest.Config) cache.Options {
	options := cache.Options{ByObject: map[client.Object]cache.ByObject{}, NewInformer: kinds.informers(cfg, nil)}
	for _, k := range kinds.cached() {
		by := cache.ByObject{}
		switch {
		case len(k.Only) == 0:
		case k.Namespaced:
			by.Namespaces = byNamespace(k.Only)
		default:
			by.Field = byNamespace(k.Only)[""].FieldSelector
		}
		if k.Keep != nil {
			by.Transform = k.keep
		}
		if len(k.Only) > 0 || k.Keep != nil {
			options.ByObject[k.Object] = by
		}
	}
	return options
}

// keep is Keep for a cache.
func (k Kind) keep(of any) (any, error) {
	if o, is := of.(client.Object); is {
		k.Keep(o)
	}
	return of, nil
}

// informers notice an API server that was restored from a backup, and log what their first list waits for. noting, if it is not nil,
// stands before each request.
func (kinds Kinds) informers(cfg *rest.Config, noting func(toolscache.ListerWatcher) toolscache.ListerWatcher) func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer {
	log := log.Log.WithName("caches")
	return func(lists toolscache.ListerWatcher, of runtime.Object, resync time.Duration, by toolscache.Indexers) (i toolscache.SharedIndexInformer) {
		for _, k := range kinds.cached() {
			if k.is(of) {
				lists = k.directly(lists, cfg, log)
			}
		}
		if noting != nil {
			lists = noting(lists)
		}
		for _, k := range kinds {
			if k.Optional && k.is(of) {
				lists = optionally(lists, k.Object, k.Arrival)
			}
		}
		begins := awaits(called(of), func() bool { return i.HasSynced() }, log)
		i = toolscache.NewSharedIndexInformer(newest.Watched(lists, begins), of, resync, by)
		return i
	}
}

// called is the kind of an object, for people.
func called(of runtime.Object) string {
	if kind := of.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	return reflect.TypeOf(of).Elem().Name()
}

// awaits returns what is to be called when a list begins: it logs that the one before did not come to its end. Until one
// has, there is no pass that could tell anybody.
func awaits(kind string, listed func() bool, log logr.Logger) func() {
	tries := 0
	return func() {
		if tries++; tries > 1 && !listed() {
			log.Info("The first list did not come to its end, and is begun anew; the operator waits for it; "+
				"if it lasts, look at kube-apiserver and etcd, and at the network to them", "kind", kind, "tries", tries)
		}
	}
}

// cached are the kinds that are read from caches, each once, with the objects that any machine reads of it.
func (kinds Kinds) cached() Kinds {
	var all Kinds
	for _, k := range kinds {
		if k.Uncached {
			continue
		}
		i := slices.IndexFunc(all, func(other Kind) bool { return other.of() == k.of() })
		switch {
		case i < 0:
			k.Only = slices.Clone(k.Only)
			all = append(all, k)
		case len(k.Only) == 0 || len(all[i].Only) == 0:
			all[i].Only = nil
		default:
			all[i].Only = append(all[i].Only, k.Only...)
		}
	}
	return all
}

// byNamespace watches these objects, or their whole namespace where there are several in one: a watch cannot name two objects.
func byNamespace(keys []client.ObjectKey) map[string]cache.Config {
	in := map[string]cache.Config{}
	for _, key := range keys {
		config := cache.Config{FieldSelector: fields.Everything()}
		if key.Name != "" {
			config.FieldSelector = fields.OneTermEqualSelector("metadata.name", key.Name)
		}
		if other, several := in[key.Namespace]; several && other.FieldSelector.String() != config.FieldSelector.String() {
			config.FieldSelector = fields.Everything()
		}
		in[key.Namespace] = config
	}
	return in
}

// fillMost is for how long an API server is asked again that does not say what kinds it serves.
const fillMost = 30 * time.Second

// Fill has all that is cached listed at the same time as soon as the manager starts. Otherwise the namespaces of a kind
// are listed one after the other, and each is looked at again only every tenth of a second. An API server that answers some
// questions and not others is asked again for half a minute: what kinds it serves is asked before anything else tries again by itself. A
// kind that it says it does not serve is told at once.
func (kinds Kinds) Fill(ctx context.Context, in cache.Cache) error {
	pause := wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: math.MaxInt32, Cap: 5 * time.Second}
	inTime, cancel := context.WithTimeout(ctx, fillMost)
	defer cancel()
	for _, k := range kinds.cached() {
		for {
			_, err := in.GetInformer(ctx, k.Object, cache.BlockUntilSynced(false))
			if err == nil {
				break
			}
			err = fmt.Errorf("watching %s: %w", k.of().Kind, err)
			if meta.IsNoMatchError(err) {
				return err
			}
			select {
			case <-inTime.Done():
				return err
			case <-time.After(pause.Step()):
			}
		}
	}
	return nil
}

// Filled waits until what a cache keeps of the kinds of some objects has been listed, and no longer: who waits for a cache as a whole
// looks at it every tenth of a second.
func Filled(in cache.Cache) func(ctx context.Context, kinds ...client.Object) error {
	return func(ctx context.Context, kinds ...client.Object) error {
		for _, kind := range kinds {
			informer, err := in.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
			if err != nil {
				return fmt.Errorf("watching %T: %w", kind, err)
			}
			select {
			case <-informer.HasSyncedChecker().Done():
			case <-ctx.Done():
				return fmt.Errorf("waiting until %T objects are listed: %w", kind, context.Cause(ctx))
			}
		}
		return nil
	}
}
