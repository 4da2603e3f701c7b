package see

import (
	"context"
	"maps"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// longestMark bounds what is kept of a mark on an object that nobody wants: one that is longer is nobody's we know.
const longestMark = 128

// Size is how many bytes the content takes.
func (o *Object) Size() int { return len(o.packed) }

// bare is what stays of an object of which nobody wants the content: that it is there, and whose it says it is.
func (o *Object) bare() *Object {
	stays := &Object{Bare: true, ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion}}
	for _, mark := range []string{decide.OwnerAnnotation, decide.RevisionAnnotation} {
		if value, marked := o.Annotations[mark]; marked {
			if stays.Annotations == nil {
				stays.Annotations = map[string]string{}
			}
			stays.Annotations[mark] = string([]byte(value[:min(len(value), longestMark)]))
		}
	}
	return stays
}

// sayTheSame says that two copies without content have nothing to tell apart but their versions.
func sayTheSame(a, b *Object) bool {
	return a.Bare && b.Bare && a.UID == b.UID && maps.Equal(a.Annotations, b.Annotations)
}

// isNobodys says that the object does not even say whose it is: nobody looks at it.
func (o *Object) isNobodys() bool { return o.Bare && len(o.Annotations) == 0 }

// sift drops the content of objects that nobody wants, before anything is made of it.
func (w *Watch) sift(o *Object) *Object {
	if w.Wants == nil {
		return o
	}
	w.Cluster.Lock()
	defer w.Cluster.Unlock()
	if w.Wants(o) {
		return o
	}
	return o.bare()
}

// siftedAgain asks once more, since who is wanted may have changed while an object was on its way. The cluster's lock is held.
func (w *Watch) siftedAgain(o *Object) *Object {
	switch {
	case w.Wants == nil, w.Wants(o) != o.Bare:
		return o
	case o.Bare:
		w.Lacks = true
		w.Cluster.Kick()
		return o
	}
	return o.bare()
}

// list lists a view.
func (w *Watch) list(ctx context.Context, v View, o metav1.ListOptions) (runtime.Object, error) {
	got, err := w.Cluster.Reader.listView(ctx, v, o)
	if err != nil {
		return nil, err
	}
	for i := range got.Items {
		got.Items[i] = *w.sift(&got.Items[i])
	}
	return got, nil
}

// watch watches a view.
func (w *Watch) watch(ctx context.Context, v View, o metav1.ListOptions) (watch.Interface, error) {
	events, err := w.Cluster.Reader.watchView(ctx, v, o)
	if err != nil || w.Wants == nil {
		return events, err
	}
	s := &sifting{from: events, results: make(chan watch.Event), stopped: make(chan struct{})}
	w.Cluster.Running.Go(func() { s.run(w.sift) })
	return s, nil
}

// sifting is a watch whose objects are sifted one by one, before a reflector gathers them.
type sifting struct {
	from    watch.Interface
	results chan watch.Event
	once    sync.Once
	stopped chan struct{}
}

// ResultChan has the events.
func (s *sifting) ResultChan() <-chan watch.Event { return s.results }

// Stop ends it, also when nobody takes its events.
func (s *sifting) Stop() {
	s.once.Do(func() { close(s.stopped) })
	s.from.Stop()
}

func (s *sifting) run(sift func(*Object) *Object) {
	defer close(s.results)
	for event := range s.from.ResultChan() {
		if o, isObject := event.Object.(*Object); isObject && event.Type != watch.Bookmark {
			event.Object = sift(o)
		}
		select {
		case s.results <- event:
		case <-s.stopped:
			return
		}
	}
}

// Strip drops the content of the objects that nobody wants any more, and says whether the content of one is lacking that
// is wanted. The cluster's lock is held.
func (w *Watch) Strip(wanted func(*Object) bool) (lacks bool) {
	for name, o := range w.Objects {
		switch wants := wanted(o); {
		case o.Bare && wants:
			lacks = true
		case !o.Bare && !wants:
			w.Objects[name] = o.bare()
		}
	}
	return lacks
}
