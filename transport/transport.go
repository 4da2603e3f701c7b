// Package transport gives up requests to the API server that are not answered.
//
// client-go sets no limit to a request, and least to a watch: one whose answer
// is lost on the way is waited for until the server ends it, which takes up to
// ten minutes, and until then whoever waits for the list that it begins with
// sees nothing and asks nothing. Over HTTP/2 a dead connection is noticed by
// pings, but not an answer that something on the way has swallowed.
package transport

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	// readTimeout bounds the wait for what was read, and for the rest of it: above the 60 s that kube-apiserver gives itself.
	readTimeout = 65 * time.Second
	// writeTimeout bounds the wait for the answer to a write, and for the rest of it: above the 30 s that an admission webhook
	// may take, so that the API server has the time to say which one did not answer.
	writeTimeout = 35 * time.Second
	// watchTimeout bounds the wait for the answer to a watch, which begins before there is anything to tell.
	watchTimeout = 30 * time.Second
	// listTimeout is the longest silence within the list that a watch begins with.
	listTimeout = 30 * time.Second
	// endTimeout is how much later than it was asked to a watch may end.
	endTimeout = 30 * time.Second
)

// Bound is next with limits to how long a request may be without an answer. A
// write that is given up may have been done, as after any broken connection.
func Bound(next http.RoundTripper) http.RoundTripper { return bounded{next} }

type bounded struct{ next http.RoundTripper }

// SilenceError says that a request was given up.
type SilenceError struct {
	Path   string
	Waited time.Duration
	For    string // what did not come
}

func (e *SilenceError) Error() string {
	return fmt.Sprintf("%s of %s did not come within %s", e.For, e.Path, e.Waited)
}

// GivenUp tells whoever does not know this type.
func (e *SilenceError) GivenUp() bool { return true }

// RoundTrip returns a SilenceError where the answer does not come, and so does
// reading the body of a watch that falls silent.
func (b bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	watches := query.Get("watch") == "true" || query.Get("watch") == "1"
	wait := writeTimeout
	switch {
	case watches:
		wait = watchTimeout
	case request.Method == http.MethodGet || request.Method == http.MethodHead:
		wait = readTimeout
	}
	ctx, cancel := context.WithCancelCause(request.Context())
	g := &guarded{ctx: ctx, cancel: cancel, path: request.URL.Path, alive: signOf(ctx)}
	g.within(wait, "the answer")
	response, err := b.next.RoundTrip(request.WithContext(ctx))
	g.alive()
	if err != nil {
		g.stop()
		err = g.explain(err)
		cancel(nil)
		return nil, err
	}
	g.ReadCloser = response.Body
	switch {
	case watches && query.Get("sendInitialEvents") == "true":
		g.list, g.ends = listEndIn(response.Header.Get("Content-Type")), endOf(query.Get("timeoutSeconds"))
		g.within(listTimeout, "more of the list")
	case watches:
		g.ends = endOf(query.Get("timeoutSeconds"))
		g.end()
	default:
		g.within(wait, "the rest of the answer")
	}
	response.Body = g
	return response, nil
}

// sign is the key in a context of what WithSign says.
type sign struct{}

// WithSign has alive called for all that comes of requests with this context:
// an answer, a piece of one, or that it was given up.
func WithSign(ctx context.Context, alive func()) context.Context {
	return context.WithValue(ctx, sign{}, alive)
}

func signOf(ctx context.Context) func() {
	if alive, has := ctx.Value(sign{}).(func()); has {
		return alive
	}
	return func() {}
}

// endOf is when a watch has to be over; zero for one that was asked for without an end.
func endOf(timeoutSeconds string) time.Time {
	seconds, err := strconv.Atoi(timeoutSeconds)
	if err != nil || seconds <= 0 {
		return time.Time{}
	}
	return time.Now().Add(time.Duration(seconds)*time.Second + endTimeout)
}

// guarded is the body of an answer with a limit to the wait for it. It is read
// by one goroutine at a time, and may be closed by another.
type guarded struct {
	io.ReadCloser
	ctx    context.Context //nolint:containedctx // It is the request's, and ends with the body.
	cancel context.CancelCauseFunc
	path   string
	alive  func()

	mu    sync.Mutex
	timer *time.Timer

	list *listEnd  // nil once the list that the watch begins with has ended
	ends time.Time // of the watch
}

// within gives up the request after a while, unless called again before.
func (g *guarded) within(wait time.Duration, what string) {
	g.stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timer = time.AfterFunc(wait, func() { g.cancel(&SilenceError{Path: g.path, Waited: wait, For: what}) })
}

// end lets the watch go on until it has to be over.
func (g *guarded) end() {
	g.stop()
	if !g.ends.IsZero() {
		g.within(time.Until(g.ends), "the end of the watch")
	}
}

func (g *guarded) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.timer != nil {
		g.timer.Stop()
	}
}

// Read is that of the body; while a list is awaited every piece of it puts off the limit.
func (g *guarded) Read(into []byte) (int, error) {
	n, err := g.ReadCloser.Read(into)
	g.alive()
	if g.list != nil && n > 0 {
		if g.list.in(into[:n]) {
			g.list = nil
			g.end()
		} else {
			g.within(listTimeout, "more of the list")
		}
	}
	if err != nil {
		g.stop()
	}
	return n, g.explain(err)
}

// Close ends the request.
func (g *guarded) Close() error {
	g.stop()
	err := g.ReadCloser.Close()
	g.cancel(nil)
	return err
}

// explain gives the cause in place of the cancellation that it led to.
func (g *guarded) explain(err error) error {
	if err == nil || err == io.EOF { //nolint:errorlint // Readers return it as it is.
		return err
	}
	if silence, is := context.Cause(g.ctx).(*SilenceError); is { //nolint:errorlint // It is the cause itself.
		return silence
	}
	return err
}
