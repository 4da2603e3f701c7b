package images

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
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
