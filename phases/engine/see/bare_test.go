package see

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// hostile is an object with our marks and much content.
func hostile(name, resourceVersion string, marks map[string]string) *Object {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"text": strings.Repeat(name, 10)}}}
	u.SetNamespace("providers")
	u.SetName(name)
	u.SetUID(types.UID("uid-of-" + name))
	u.SetResourceVersion(resourceVersion)
	u.SetLabels(map[string]string{decide.ManagedByLabel: "anything"})
	u.SetAnnotations(marks)
	return ObjectFrom(u)
}

// unwanted are the marks of an object that says it is ours.
func unwanted() map[string]string {
	return map[string]string{decide.OwnerAnnotation: strings.Repeat("o", 1000), decide.RevisionAnnotation: "1", decide.CompleteAnnotation: "true"}
}

// picky is a store that wants the content of no object but one.
func picky(wanted string) (w *Watch, told *int) {
	w, told, _ = watching()
	w.Wants = func(o *Object) bool { return o.Name == wanted }
	return w, told
}

func TestWatched_keeps_of_what_nobody_wants_nothing_but_that_it_is_there_and_whose_it_says_it_is(t *testing.T) {
	w, _ := picky("wanted")
	source := watch.NewFake()
	events := &sifting{from: source, results: make(chan watch.Event), stopped: make(chan struct{})}
	go events.run(w.sift)
	go func() {
		source.Add(hostile("wanted", "1", unwanted()))
		source.Add(hostile("other", "2", unwanted()))
		source.Stop()
	}()
	for event := range events.ResultChan() {
		_ = w.Add(event.Object)
	}
	wanted, other := w.Objects[types.NamespacedName{Namespace: "providers", Name: "wanted"}], w.Objects[types.NamespacedName{Namespace: "providers", Name: "other"}]
	if wanted.Bare || wanted.Size() == 0 {
		t.Errorf("what is wanted is kept as %+v", wanted)
	}
	if !other.Bare || other.Size() > 0 || other.UID != "uid-of-other" || len(other.Labels) > 0 || len(other.Annotations) != 2 || len(other.Annotations[decide.OwnerAnnotation]) != longestMark {
		t.Errorf("what is not wanted is kept as %+v", other)
	}
}

func TestSifting_ends_although_nobody_takes_what_it_has(t *testing.T) {
	source, ended := watch.NewFakeWithChanSize(1, false), make(chan struct{})
	s := &sifting{from: source, results: make(chan watch.Event), stopped: make(chan struct{})}
	source.Add(hostile("a", "1", nil))
	go func() {
		s.run(func(o *Object) *Object { return o })
		close(ended)
	}()
	s.Stop()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("it goes on")
	}
}

func TestWatched_tells_of_what_nobody_wants_only_when_it_begins_or_ends_to_say_that_it_is_ours(t *testing.T) {
	w, told := picky("")
	now := func(name, version string, marks map[string]string) {
		_ = w.Update(w.sift(hostile(name, version, marks)))
	}
	for step, row := range []struct {
		do   func()
		want int
	}{
		{func() { now("a", "1", nil) }, 0},
		{func() { now("a", "2", nil) }, 0},
		{func() { now("a", "3", unwanted()) }, 1},
		{func() { now("a", "4", unwanted()) }, 0},
		{func() { now("a", "5", nil) }, 1},
		{func() { _ = w.Delete(hostile("a", "6", nil)) }, 0},
		{func() { now("b", "7", unwanted()) }, 1},
		{func() { _ = w.Delete(hostile("b", "8", unwanted())) }, 1},
	} {
		*told = 0
		before := w.Cluster.Changes
		if row.do(); *told != row.want || w.Cluster.Changes-before != row.want {
			t.Errorf("step %d told %d times, and changed %d, want %d", step, *told, w.Cluster.Changes-before, row.want)
		}
	}
	if len(w.Objects) > 0 {
		t.Errorf("left are %v", w.Objects)
	}
}

func TestWatched_keeps_ten_thousand_hostile_objects_in_20_MiB(t *testing.T) {
	w, _ := picky("")
	before := heap()
	for i := range 10_000 {
		_ = w.Update(w.sift(hostile(fmt.Sprintf("%s-%05d", strings.Repeat("x", 100), i), "1", unwanted())))
	}
	if grown := int64(heap()) - int64(before); grown > 20<<20 {
		t.Errorf("it keeps %d MiB", grown>>20)
	}
	if len(w.Objects) != 10_000 {
		t.Errorf("it knows %d", len(w.Objects))
	}
}

func TestWatched_lacks_what_is_wanted_since_it_was_sifted(t *testing.T) {
	w, _ := picky("")
	kicked := false
	w.Cluster.Kick = func() { kicked = true }
	late, gone := w.sift(hostile("late", "1", nil)), hostile("gone", "1", nil)
	w.Wants = func(o *Object) bool { return o.Name == "late" }
	_ = w.Replace([]any{late, gone}, "2")
	if !w.Lacks || !kicked {
		t.Error("it does not say what it lacks")
	}
	if w.Objects[gone.NamespacedName()].Size() > 0 {
		t.Error("it keeps what is not wanted any more")
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestWatched_drops_what_is_not_wanted_any_more_and_tells_what_it_lacks(t *testing.T) {
	w, _ := picky("lacks")
	for _, name := range []string{"lacks", "stays"} {
		_ = w.Update(w.sift(hostile(name, "1", nil)))
	}
	if w.Strip(func(o *Object) bool { return o.Name == "lacks" }) {
		t.Error("it lacks what it has")
	}
	if w.Strip(func(*Object) bool { return false }); w.Objects[types.NamespacedName{Namespace: "providers", Name: "lacks"}].Size() > 0 {
		t.Error("it keeps what nobody wants")
	}
	if !w.Strip(func(o *Object) bool { return o.Name == "stays" }) {
		t.Error("it does not say what it lacks")
	}
	w.Wrote(hostile("stays", "1", nil))
	if w.Strip(func(o *Object) bool { return o.Name == "stays" }) {
		t.Error("it lacks what was read since")
	}
}
