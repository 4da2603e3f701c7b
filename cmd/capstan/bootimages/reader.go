package bootimages

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
)

// page is how many objects are asked for at once.
const page = 500

// one are the kinds of which single objects are read, by their names: a user may have the right to read some of them only.
// Of all others there may be thousands, and they are listed.
var one = []string{"ClusterOperator", "ClusterVersion", "ConfigMap", "Infrastructure", "Lease", "MachineConfiguration", "Secret"}

// reader reads everything once, from the API server itself. A kind that is not served has no objects. Its errors are for people.
type reader struct {
	from client.Client
	host string

	mu     sync.Mutex
	lists  map[string]listed
	single map[string]got
}

type listed struct {
	items []client.Object
	err   error
}

type got struct {
	object client.Object
	err    error
}

func newReader(from client.Client, host string) *reader {
	return &reader{from: from, host: host, lists: map[string]listed{}, single: map[string]got{}}
}

// Get reads an object.
func (r *reader) Get(ctx context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	kind, err := r.from.GroupVersionKindFor(into)
	if err != nil {
		return err
	}
	if slices.Contains(one, kind.Kind) {
		return r.get(ctx, kind, key, into)
	}
	all, err := r.list(ctx, kind, key.Namespace)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(o client.Object) bool { return o.GetName() == key.Name })
	if i < 0 {
		return notFound(kind, key.Name)
	}
	copyInto(into, all[i])
	return nil
}

func (r *reader) get(ctx context.Context, kind schema.GroupVersionKind, key client.ObjectKey, into client.Object) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, secret := into.(*corev1.Secret); secret { // what is in it is not kept
		return r.explain(r.from.Get(ctx, key, into), kind, key)
	}
	id := fmt.Sprintf("%T %s %s", into, kind, key)
	known, is := r.single[id]
	if !is {
		err := r.from.Get(ctx, key, into)
		if known.err = r.explain(err, kind, key); err == nil {
			known.object = deepCopy(into)
		}
		r.single[id] = known
	}
	if known.err != nil {
		return known.err
	}
	copyInto(into, known.object)
	return nil
}

// List reads all objects of a kind, or those of a namespace.
func (r *reader) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	kind, err := r.from.GroupVersionKindFor(into)
	if err != nil {
		return err
	}
	kind.Kind = kind.Kind[:len(kind.Kind)-len("List")]
	all, err := r.list(ctx, kind, (&client.ListOptions{}).ApplyOptions(options).Namespace)
	if err != nil {
		return err
	}
	objects := make([]runtime.Object, len(all))
	for i := range all {
		objects[i] = deepCopy(all[i])
	}
	return meta.SetList(into, objects)
}

func (r *reader) list(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]client.Object, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := kind.String() + " " + namespace
	known, is := r.lists[id]
	if !is {
		known.items, known.err = r.pages(ctx, kind, namespace)
		r.lists[id] = known
	}
	return known.items, known.err
}

func (r *reader) pages(ctx context.Context, kind schema.GroupVersionKind, namespace string) (all []client.Object, err error) {
	of := kind.GroupVersion().WithKind(kind.Kind + "List")
	where := "s"
	if namespace != "" {
		where += " in namespace " + namespace
	}
	for next := ""; ; {
		list := r.empty(of)
		err = r.from.List(ctx, list, client.InNamespace(namespace), client.Limit(page), client.Continue(next))
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			return nil, nil
		}
		if err != nil {
			return nil, inspect.Explain(err, r.host, "list", kind.Kind+where)
		}
		err = meta.EachListItem(list, func(o runtime.Object) error {
			if item, is := o.(client.Object); is {
				all = append(all, item)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if next = list.GetContinue(); next == "" {
			return all, nil
		}
	}
}

// empty is a list of a kind, of its type where it has one.
func (r *reader) empty(kind schema.GroupVersionKind) client.ObjectList {
	if typed, err := r.from.Scheme().New(kind); err == nil {
		if list, is := typed.(client.ObjectList); is {
			list.GetObjectKind().SetGroupVersionKind(kind)
			return list
		}
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind)
	return list
}

// explain is an error of a get for people; that there is no such object, or kind, is left to who asks.
func (r *reader) explain(err error, kind schema.GroupVersionKind, key client.ObjectKey) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return notFound(kind, key.Name)
	case kind.Kind == "Secret": // whoever asks goes on without, and says so
		return err
	case key.Namespace == "":
		return inspect.Explain(err, r.host, "get", kind.Kind+" "+key.Name)
	}
	return inspect.Explain(err, r.host, "get", kind.Kind+" "+key.String())
}

// written is when a ConfigMap that was read was written last, zero if it was not read, or is not there.
func (r *reader) written(key client.ObjectKey) time.Time {
	object := &corev1.ConfigMap{}
	r.mu.Lock()
	defer r.mu.Unlock()
	id := fmt.Sprintf("%T %s %s", object, corev1.SchemeGroupVersion.WithKind("ConfigMap"), key)
	if known := r.single[id]; known.err == nil && known.object != nil {
		return lastWritten(known.object, nil)
	}
	return time.Time{}
}

// lastWritten is when an object was written last by managers of fields that something holds of, nil for all.
func lastWritten(o client.Object, by func(metav1.ManagedFieldsEntry) bool) (last time.Time) {
	for _, entry := range o.GetManagedFields() {
		if entry.Time != nil && (by == nil || by(entry)) && entry.Time.After(last) {
			last = entry.Time.UTC()
		}
	}
	return last
}

func notFound(kind schema.GroupVersionKind, name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, name)
}

func deepCopy(o client.Object) client.Object {
	copied, _ := o.DeepCopyObject().(client.Object) // a copy is of the same type
	return copied
}

// copyInto makes an object a copy of another one of its type.
func copyInto(into, from client.Object) {
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(deepCopy(from)).Elem())
}
