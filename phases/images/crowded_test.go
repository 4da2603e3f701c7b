package images

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// dripping has one host send its blobs byte by byte, each when the test says so.
type dripping struct {
	http.RoundTripper
	host  string
	drips chan *drip
}

// drip is a body that says when it is asked for a byte: what came before has been dealt with then.
type drip struct {
	io.ReadCloser
	asked, more chan struct{}
	ended       <-chan struct{}
}

func (d *dripping) RoundTrip(q *http.Request) (*http.Response, error) {
	answer, err := d.RoundTripper.RoundTrip(q)
	if err == nil && q.URL.Host == d.host && strings.Contains(q.URL.Path, "/blobs/") {
		drip := &drip{ReadCloser: answer.Body, asked: make(chan struct{}, 1), more: make(chan struct{}), ended: q.Context().Done()}
		answer.Body = drip
		d.drips <- drip
	}
	return answer, err
}

func (d *drip) Read(p []byte) (int, error) {
	select {
	case d.asked <- struct{}{}:
	case <-d.ended:
	}
	select {
	case <-d.more:
	case <-d.ended:
	}
	return d.ReadCloser.Read(p[:min(1, len(p))])
}

func TestPuller_lets_an_image_pass_those_that_are_slow(t *testing.T) {
	slow, other := newRegistry(t), newRegistry(t)
	transport := newTransport(nil)
	t.Cleanup(transport.CloseIdleConnections)
	drips := make(chan *drip, parallelism)
	p := runPuller(t, Options{Transport: &dripping{transport, slow.host, drips}})
	refs := make([]Ref, parallelism)
	for i := range refs {
		longer := fmt.Sprint(rand.New(rand.NewPCG(1, uint64(i))).Perm(200)) // than the hour has steps
		refs[i] = slow.push(imageOf(t, profileAt(root+"/a", longer)))
	}
	p.Want(refs)
	all := make([]*drip, parallelism) // they hold all slots
	for i := range all {
		all[i] = <-drips
		<-all[i].asked
	}
	waiting := other.push(imageOf(t, profileAt(root+"/a", "other")))
	p.Want(append(slices.Clone(refs), waiting))
	for !p.Source.(*Puller).crowded() {
		runtime.Gosched()
	}
	const step = stallAfter - time.Second
	for passed := step; passed < unhurriedFor; passed += step {
		p.clock.Step(step)
		for _, d := range all {
			d.more <- struct{}{}
			<-d.asked
		}
	}
	if s := p.State(waiting); s.Phase != Waiting {
		t.Fatalf("it is %v before the hour is over", s.Phase)
	}
	p.clock.Step(step)
	if got := p.ready(waiting); string(got.Profiles[0].Manifests) != "other" {
		t.Errorf("got %v", got)
	}
}
