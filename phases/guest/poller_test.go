package guest

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
)

// waits is for how long a test waits for what happens beside it, at most.
const waits = 20 * time.Second

func next[T any](t *testing.T, what string, from chan T) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-time.After(waits):
		t.Fatalf("%s did not happen", what)
	}
	return got
}

// until waits until the poller waits for the next time.
func (w *world) until(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(waits); !w.clock.HasWaiters(); {
		if time.Now().After(end) {
			t.Fatal("the poller does not wait")
		}
		next(t, "a moment", tick())
	}
}

func tick() chan time.Time {
	c := make(chan time.Time, 1)
	time.AfterFunc(time.Millisecond, func() { c <- time.Now() })
	return c
}

// start runs a poller until the test ends.
func (w *world) start(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Start(ctx) }()
	return func() {
		cancel()
		if err := next(t, "the end", done); err != nil {
			t.Error(err)
		}
	}
}

func TestPoller_asks_at_its_pace_and_has_passes_made_only_of_what_has_changed(t *testing.T) {
	ignored := goleak.IgnoreCurrent()
	w := connected(t)
	stop := w.start(t)
	if key := next(t, "the first news", w.changed); key.Name != "a" {
		t.Errorf("it tells of %v", key)
	}
	next(t, "the first probe", w.probed)
	for range 3 {
		w.until(t)
		w.clock.Step(2 * installing)
		next(t, "a probe", w.probed)
	}
	w.until(t)
	if told := w.told(); len(told) > 0 {
		t.Errorf("nothing has changed, and it tells of %v", told)
	}
	w.guest.set(readyPath, status(http.StatusInternalServerError))
	w.clock.Step(2 * installing)
	next(t, "news", w.changed)
	stop()
	w.guest.Close()
	goleak.VerifyNone(t, ignored)
}

func TestPoller_asks_a_guest_that_moves_again_soon(t *testing.T) {
	w := connected(t)
	defer w.start(t)()
	next(t, "the first news", w.changed)
	next(t, "the first probe", w.probed)
	w.until(t)
	for _, after := range []time.Duration{2 * following, 2 * following, lively} {
		w.clock.Step(after)
		next(t, "a probe of one that has answered a moment ago", w.probed)
		w.until(t)
	}
	if w.clock.Step(installing - time.Millisecond); len(w.probed) > 0 {
		t.Error("one that says the same was asked before its time")
	}
	w.clock.Step(installing)
	next(t, "a probe", w.probed)
}

func TestPoller_asks_a_guest_at_rest_once_a_minute(t *testing.T) {
	w := connected(t)
	defer w.start(t)()
	next(t, "the first probe", w.probed)
	w.see(finished, func(f *guards.Facts) { f.Then.State = guards.Installed })
	next(t, "a probe by what is wanted now", w.probed)
	w.until(t)
	w.clock.Step(resting - time.Second)
	if len(w.probed) > 0 {
		t.Error("it was asked before a minute was over")
	}
	w.clock.Step(resting)
	next(t, "a probe", w.probed)
}

func TestPoller_asks_at_once_by_a_kubeconfig_that_was_stored(t *testing.T) {
	w := newWorld(t)
	seen, _ := w.see()
	defer w.start(t)()
	next(t, "news of no kubeconfig", w.changed)
	w.until(t)
	if _, err := seen.ProbeAPI(t.Context()); err != nil {
		t.Fatal(err)
	}
	next(t, "a probe", w.probed)
}

func TestPoller_one_guest_that_hangs_holds_no_other_up(t *testing.T) {
	w := connected(t)
	begun, release := make(chan bool, 10), make(chan bool)
	w.guest.set(readyPath, func(rw http.ResponseWriter, r *http.Request) {
		begun <- true
		select {
		case <-release:
			_, _ = io.WriteString(rw, "ok")
		case <-r.Context().Done():
		}
	})
	another := asked()
	another.Name, another.UID = "b", "p2"
	defer w.start(t)()
	next(t, "the question that hangs", begun)
	w.of(another, wanted{cluster: client.ObjectKey{Namespace: key.Namespace, Name: "nobody"}, every: resting})
	if told := next(t, "news of another", w.changed); told.Name != "b" {
		t.Errorf("it tells of %v", told)
	}
	close(release)
}

func TestPoller_forgets_and_tells_objects_of_one_name_apart(t *testing.T) {
	w := connected(t)
	seen, _ := w.see()
	first := seen.guest
	again := asked()
	again.UID = "p2"
	if w.of(again, first.want) == first {
		t.Error("another object has the same guest")
	}
	w.Forget(key)
	if len(w.guests) != 0 {
		t.Error("it is not forgotten")
	}
	w.Forget(key)
}

func TestPoller_nobody_is_asked_before_machines_are_intended_nor_in_a_deletion(t *testing.T) {
	w := newWorld(t)
	for name, change := range map[string]func(*guards.Facts){
		"nothing is intended": func(f *guards.Facts) { f.Marks = guards.Marks{Inputs: "d"} },
		"it is being deleted": func(f *guards.Facts) { f.Object.Deleting = true },
	} {
		if seen, facts := w.see(change); seen.guest != nil || facts.Guest.APIProblem != "" || len(w.guests) > 0 {
			t.Errorf("%s: a guest is asked", name)
		}
	}
	if seen, _ := w.see(); seen.guest == nil || len(w.guests) != 1 {
		t.Error("a guest is not asked")
	}
	seen, _ := w.see(func(f *guards.Facts) { f.Object.Deleting = true })
	if len(w.guests) > 0 {
		t.Error("what is being deleted is asked still")
	}
	if did, err := seen.KeepKubeconfig(t.Context()); did != "" || err != nil {
		t.Errorf("it did %q, %v", did, err)
	}
}
