package images

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// tap tells how much has been read of an answer whenever more of it is asked for: what came before has been dealt with.
type tap struct {
	inner http.RoundTripper
	part  string // of the paths of the requests that it is about

	mu   sync.Mutex
	more sync.Cond
	most int // bytes of one answer that have been dealt with; -1: nothing was asked for yet
}

func tapped(inner http.RoundTripper, part string) *tap {
	r := &tap{inner: inner, part: part, most: -1}
	r.more.L = &r.mu
	return r
}

func (r *tap) RoundTrip(q *http.Request) (*http.Response, error) {
	answer, err := r.inner.RoundTrip(q)
	if err == nil && strings.Contains(q.URL.Path, r.part) {
		answer.Body = &tappedBody{ReadCloser: answer.Body, tap: r}
	}
	return answer, err
}

type tappedBody struct {
	io.ReadCloser
	tap *tap
	sum int
}

func (b *tappedBody) Read(p []byte) (int, error) {
	b.tap.mu.Lock()
	b.tap.most = max(b.tap.most, b.sum)
	b.tap.mu.Unlock()
	b.tap.more.Broadcast()
	n, err := b.ReadCloser.Read(p)
	b.sum += n
	return n, err
}

func (r *tap) await(bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.most < bytes {
		r.more.Wait()
	}
}

func TestPuller_gives_up_a_registry_that_says_nothing_more(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
	for _, c := range []struct {
		name, at string
		bytes    int // that come before the silence; -1: not even a status
	}{
		{"at the door", "/v2/", -1},
		{"before the manifest", "/manifests/", -1},
		{"within the manifest", "/manifests/", 10},
		{"before a blob", "/blobs/", -1},
		{"after the headers of a blob", "/blobs/", 0},
		{"within a blob", "/blobs/", 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := make(chan struct{}, 10)
			r.breaks(c.at, func(w http.ResponseWriter, q *http.Request) {
				if c.bytes >= 0 {
					_, _ = w.Write(r.original(q)[:c.bytes])
					w.(http.Flusher).Flush()
				}
				asked <- struct{}{}
				<-q.Context().Done()
			})
			transport := tapped(remoteHost(t, r.host, nil), c.at)
			p := runPuller(t, Options{Transport: transport})
			p.Want([]Ref{ref})
			<-asked
			if c.bytes >= 0 {
				transport.await(c.bytes)
			}
			p.clock.Step(stallAfter + time.Second)
			s, err := p.failed(ref)
			if err.Kind != KindNetwork || err.Terminal() || !s.NextTry.After(p.clock.Now()) || s.attempts != 1 {
				t.Errorf("got a %s error, terminal %t: %+v", err.Kind, err.Terminal(), s)
			}
			contains(t, err, "it sent nothing for 30 seconds", r.host, string(ref), "check the network to it and its load")
			r.heal()
			p.clock.Step(firstRetry)
			p.recovered(ref)
			if s := p.State(ref); s.Err != nil || s.attempts != 2 {
				t.Errorf("the failure is still there: %+v", s)
			}
		})
	}
}

func TestPuller_lets_a_slow_registry_take_its_time(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
	const pieces = 5
	sent, more := make(chan int), make(chan struct{})
	r.breaks("/blobs/", func(w http.ResponseWriter, q *http.Request) {
		whole := r.original(q)
		for i := range pieces {
			_, _ = w.Write(whole[len(whole)*i/pieces : len(whole)*(i+1)/pieces])
			w.(http.Flusher).Flush()
			if i < pieces-1 {
				sent <- len(whole) * (i + 1) / pieces
				<-more
			}
		}
	})
	transport := tapped(remoteHost(t, r.host, nil), "/blobs/")
	p := runPuller(t, Options{Transport: transport})
	p.Want([]Ref{ref})
	for range pieces - 1 {
		transport.await(<-sent)
		p.clock.Step(stallAfter - time.Second)
		more <- struct{}{}
	}
	if got := p.ready(ref); string(got.Profiles[0].Manifests) != "a" || p.State(ref).attempts != 1 {
		t.Errorf("got %v after %d attempts", got, p.State(ref).attempts)
	}
}

// slowMirror is a puller of an image that a mirror sends byte by byte, until the mirror is left for the source.
func slowMirror(t *testing.T, gone bool) State {
	t.Helper()
	slow, source := newRegistry(t), newRegistry(t)
	image := imageOf(t, profileAt(root+"/a", "a"))
	ref := source.push(image)
	slow.push(image)
	if gone {
		source.stop()
	}
	sent, more := make(chan int), make(chan struct{})
	var requests atomic.Int64
	fault := func(w http.ResponseWriter, q *http.Request) bool {
		if !strings.Contains(q.URL.Path, "/blobs/") || requests.Add(1) > 1 {
			return false
		}
		for i, b := range slow.original(q) {
			_, _ = w.Write([]byte{b})
			w.(http.Flusher).Flush()
			select {
			case sent <- i + 1:
				<-more
			case <-q.Context().Done():
				return true
			}
		}
		return true
	}
	slow.fault.Store(&fault)
	inner := newTransport(nil)
	t.Cleanup(inner.CloseIdleConnections)
	transport := tapped(inner, "/blobs/")
	p := runPuller(t, Options{Transport: transport})
	p.use(Access{Mirrors: []Mirrors{{Source: source.host, Mirrors: []string{slow.host}}}})
	p.Want([]Ref{ref})
	for range 2 {
		transport.await(<-sent)
		p.clock.Step(stallAfter - 5*time.Second)
		more <- struct{}{}
	}
	p.ready(ref)
	return p.State(ref)
}

func TestPuller_leaves_a_slow_place_for_one_that_is_untried(t *testing.T) {
	if s := slowMirror(t, false); s.attempts != 1 {
		t.Errorf("it took %d attempts", s.attempts)
	}
}

func TestPuller_returns_to_a_slow_place_when_no_other_has_the_image(t *testing.T) {
	if s := slowMirror(t, true); s.attempts != 1 {
		t.Errorf("it took %d attempts", s.attempts)
	}
}

// sends plays a registry that sends so many bytes in each of the seconds.
func sends(a *activity, clk *clocktesting.FakeClock, seconds int, bytes int) error {
	for range seconds {
		clk.Step(time.Second)
		a.seen(bytes)
		if _, err := a.judge(); err != nil {
			return err
		}
	}
	return nil
}

func TestPace_is_asked_for_only_while_another_place_is_untried(t *testing.T) {
	for _, c := range []struct {
		name           string
		pace           pace
		seconds, bytes int
		want           error
	}{
		{"fast enough", hurried, 599, leastRate, nil},
		{"too slow", hurried, 31, leastRate - 1, errSlow},
		{"too slow for less than half a minute", hurried, 29, 1, nil},
		{"fast, but not done after ten minutes", hurried, 600, 100 * leastRate, errLong},
		{"slow where no other place is untried", unhurried, 3599, 1, nil},
		{"not done after an hour where there are others", unhurried, 3600, leastRate, errLong},
		{"slow for a day where there is no other place", alone(func() bool { return false }), 86_400, 1, nil},
		{"slow for less than an hour while images wait", alone(func() bool { return true }), 3599, leastRate - 1, nil},
		{"slow for an hour while images wait", alone(func() bool { return true }), 3600, leastRate - 1, errCrowded},
		{"fast enough for a day while images wait", alone(func() bool { return true }), 86_400, leastRate, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			clk := clocktesting.NewFakeClock(time.Now())
			_, a, end := watchActivity(t.Context(), clk, c.pace)
			end()
			if err := sends(a, clk, c.seconds, c.bytes); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestPace_does_not_count_the_time_of_unpacking(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Now())
	_, a, end := watchActivity(t.Context(), clk, hurried)
	end()
	resume := a.pause()
	for range 3 {
		clk.Step(stallAfter)
		if _, err := a.judge(); err != nil {
			t.Fatal(err)
		}
	}
	clk.Step(stallAfter - time.Second)
	resume()
	if err := sends(a, clk, 29, 1); err != nil {
		t.Error(err)
	}
	if err := sends(a, clk, 1, 1); !errors.Is(err, errSlow) {
		t.Errorf("got %v", err)
	}
}
