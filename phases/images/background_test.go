package images

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"
)

func TestBackoff_grows_from_a_second_to_a_minute_with_jitter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		failures := rapid.IntRange(1, 1_000_000).Draw(rt, "failures")
		got := backoff(failures, rapid.Float64Range(0, 0.999).Draw(rt, "jitter"))
		nominal := time.Minute
		if failures <= 6 {
			nominal = time.Second << (failures - 1)
		}
		if got > nominal || got < nominal/2 {
			rt.Fatalf("%s, want %s to %s", got, nominal/2, nominal)
		}
	})
}

// fetches is a source whose fetches the test answers itself.
func fetches(t *testing.T, fetch func(context.Context, Ref) (*Image, error)) *running {
	return run(t, func(notify func(), clk *clocktesting.FakeClock) Source {
		p := NewPuller(Options{Notify: notify, Clock: clk})
		p.fetch = func(ctx context.Context, ref Ref, _ *Image) (*Image, error) { return fetch(ctx, ref) }
		return p
	})
}

func refs(n int) []Ref {
	var rs []Ref
	for i := range n {
		rs = append(rs, Ref(fmt.Sprintf("host/image-%d@%s", i, someDigest)))
	}
	return rs
}

func TestSource_fetches_no_more_than_four_at_a_time(t *testing.T) {
	var now, most atomic.Int64
	full := make(chan struct{}, 12)
	release := make(chan struct{})
	s := fetches(t, func(_ context.Context, ref Ref) (*Image, error) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		full <- struct{}{}
		<-release
		now.Add(-1)
		return &Image{Ref: ref}, nil
	})
	wanted := refs(12)
	s.Want(wanted)
	for range parallelism {
		<-full
	}
	phases := map[Phase]int{}
	for _, ref := range wanted {
		phases[s.State(ref).Phase]++
	}
	if phases[Fetching] != 4 || phases[Waiting] != 8 {
		t.Errorf("the phases are %v, want 4 fetching and 8 waiting", phases)
	}
	close(release)
	for _, ref := range wanted {
		s.ready(ref)
	}
	if most.Load() > parallelism {
		t.Errorf("%d ran at once", most.Load())
	}
}

func TestSource_stops_and_forgets_what_is_not_wanted_any_more(t *testing.T) {
	stopped := make(chan Ref, 2)
	s := fetches(t, func(ctx context.Context, ref Ref) (*Image, error) {
		if strings.Contains(string(ref), "image-0") {
			return &Image{Ref: ref}, nil
		}
		<-ctx.Done()
		stopped <- ref
		return nil, ctx.Err()
	})
	wanted := refs(2)
	s.Want(wanted)
	s.ready(wanted[0])
	s.await(wanted[1], "Fetching", func(s State) bool { return s.Phase == Fetching })
	s.Want(wanted[:1])
	if got := <-stopped; got != wanted[1] {
		t.Errorf("stopped %s", got)
	}
	if got := s.State(wanted[1]); got != (State{}) {
		t.Errorf("it still knows %+v", got)
	}
	if got := s.State(wanted[0]); got.Phase != Ready || got.attempts != 1 {
		t.Errorf("the other one became %+v", got)
	}
}

func TestSource_tries_a_terminal_failure_again_only_when_asked(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	s := fetches(t, func(_ context.Context, ref Ref) (*Image, error) {
		if broken.Load() {
			return nil, fail(KindContent, "broken")
		}
		return &Image{Ref: ref}, nil
	})
	ref := refs(1)[0]
	s.Want([]Ref{ref})
	state, err := s.failed(ref)
	if !err.Terminal() || !state.NextTry.IsZero() || s.clock.HasWaiters() {
		t.Errorf("it would be tried again: %+v", state)
	}
	broken.Store(false)
	s.Retry()
	s.await(ref, "Ready", func(s State) bool { return s.Phase == Ready && s.attempts == 2 })
	if s.clock.HasWaiters() {
		t.Error("at rest a timer is left")
	}
}

func TestSource_keeps_the_last_error_while_it_tries_again(t *testing.T) {
	second := make(chan struct{})
	var attempts atomic.Int64
	s := fetches(t, func(ctx context.Context, _ Ref) (*Image, error) {
		if attempts.Add(1) == 1 {
			return nil, fail(KindNetwork, "down")
		}
		close(second)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	ref := refs(1)[0]
	s.Want([]Ref{ref})
	before, _ := s.failed(ref)
	s.clock.Step(firstRetry)
	<-second
	if now := s.State(ref); now.Phase != Fetching || now.Err == nil || now.Err.Error() != before.Err.Error() {
		t.Errorf("while trying again the state is %+v", now)
	}
}

func TestSource_waits_until_it_is_started(t *testing.T) {
	p := NewPuller(Options{})
	ref := refs(1)[0]
	p.Want([]Ref{ref})
	if got := p.State(ref).Phase; got != Waiting {
		t.Errorf("the phase is %s", got)
	}
}

func TestSource_refuses_a_reference_that_was_never_parsed(t *testing.T) {
	s := fetches(t, func(context.Context, Ref) (*Image, error) { panic("fetched") })
	s.Want([]Ref{"quay.io/image:latest"})
	if _, err := s.failed("quay.io/image:latest"); err.Kind != KindReference {
		t.Errorf("the kind is %s", err.Kind)
	}
}

func TestPuller_leaves_nothing_running_when_its_context_ends(t *testing.T) {
	before := goleak.IgnoreCurrent()
	r := newRegistry(t)
	good := r.push(imageOf(t, profileAt(root+"/a", "a")))
	hung := r.push(imageOf(t, profileAt(root+"/b", "b")))
	gone := r.ref(must1(t, imageOf(t, profileAt(root+"/c", "c")).Digest))
	hangs := make(chan struct{})
	r.breaks(hung.Digest(), func(_ http.ResponseWriter, q *http.Request) {
		close(hangs)
		<-q.Context().Done()
	})
	p := runPuller(t, Options{})
	p.Want([]Ref{good, hung, gone})
	p.ready(good)
	if _, err := p.failed(gone); err.Kind != KindNotFound {
		t.Errorf("the kind is %s: %v", err.Kind, err)
	}
	<-hangs
	p.stop()
	r.stop()
	goleak.VerifyNone(t, before)
}

func must1[T any](t *testing.T, f func() (T, error)) T {
	t.Helper()
	v, err := f()
	must(t, err)
	return v
}

func TestPuller_reads_a_decompression_bomb_in_bounded_memory(t *testing.T) {
	r := newRegistry(t)
	zeros := strings.Repeat("\x00", 40<<20)
	inside := r.push(imageOf(t, []entry{{name: root + "/a/metadata.yaml", data: zeros}}))
	elsewhere := r.push(imageOf(t, joined([]entry{{name: "usr/bin/manager", data: zeros}}, profileAt(root+"/a", "a"))))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	p := runPuller(t, Options{})
	p.Want([]Ref{inside, elsewhere})
	_, err := p.failed(inside)
	contains(t, err, "metadata.yaml has 41943040 bytes")
	p.ready(elsewhere)
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 16<<20 {
		t.Errorf("%d MiB were allocated", allocated>>20)
	}
}
