package apiproxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

// errSilent ends a request that the server does not begin to answer.
var errSilent = errors.New("the server has not begun to answer in time")

// exchange is one request and its answer.
type exchange struct {
	request *rewrite.Request
	// asProtobuf says that the client wants in protobuf what is translated as JSON.
	asProtobuf bool
	// broken is why the client's body could not be passed on.
	broken atomic.Pointer[refusal]
	// otherPrefix says that the request is counted among those with one.
	otherPrefix atomic.Bool
	// events are what follows the header of a watch.
	events *events
	// outlast has a watch go on when the library's request ends.
	outlast func() bool
	// holds says that the answer takes room until the client has read it.
	holds bool
	// body is held while the request lasts.
	body lease
	// allowed gives back that the server may be asked; nil if that is not bounded.
	allowed func()
	// crowded says that many of its kind are under way, and that nothing of it is still to come.
	crowded bool

	began time.Time
	// away is how long the proxy waited for the client or the server, in nanoseconds.
	away atomic.Int64
	// sent is when the request went upstream; what follows is the server's time, but for translating.
	sent, answered time.Time

	mutex sync.Mutex
	timer *time.Timer
	limit time.Duration
	// silent ends a request whose server is silent.
	silent func()
	over   bool
}

type exchangeKey struct{}

func exchangeOf(r *http.Request) *exchange {
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	return x
}

// watches says whether events are asked for.
func (x *exchange) watches() bool { return x.request.Info.Verb == "watch" }

// streams says whether the answer has no end of its own.
func (x *exchange) streams() bool {
	return x.watches() || x.request.Class == rewrite.Opaque && x.request.Info.IsResourceRequest
}

// flushes says whether each piece of the answer goes on at once: nobody knows when there will be more.
func (x *exchange) flushes() bool {
	return x.watches() || x.request.Class == rewrite.Opaque
}

// watch has a request end with its client, a watch apart, or when the server is silent for so long.
func (x *exchange) watch(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	own := context.WithValue(ctx, exchangeKey{}, x)
	if x.watches() {
		own = context.WithoutCancel(own)
	}
	own, cancel := context.WithCancelCause(own)
	if x.watches() {
		x.outlast = context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	}
	x.limit, x.silent = limit, func() { cancel(errSilent) }
	return own, func() {
		if x.outlast != nil {
			x.outlast()
		}
		x.heard()
		cancel(context.Canceled)
	}
}

// asks begins the wait for the server, which goes on until it has had all that the client said for so long.
func (x *exchange) asks() {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	if !x.over {
		x.timer = time.AfterFunc(x.limit, x.silent)
	}
}

// said begins the wait for the server anew, since the client is still speaking.
func (x *exchange) said() {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	if x.timer != nil {
		x.timer.Reset(x.limit)
	}
}

// end is when the client has its answer. The connection is the next request's then.
func (x *exchange) end() {
	x.body.end()
	if x.allowed != nil {
		x.allowed()
	}
	x.mutex.Lock()
	defer x.mutex.Unlock()
	x.over = true
}

// listen bounds how long the client may be silent, while it is this request that it speaks of.
func (x *exchange) listen(deadline func(time.Time) error, until time.Time) bool {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	if x.over {
		return false
	}
	// A connection without deadlines is none of a client that could be slow: a test's.
	_ = deadline(until)
	return true
}

// heard ends the wait.
func (x *exchange) heard() {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	if x.timer != nil {
		x.timer.Stop()
		x.timer = nil
	}
}

// spent is how long the proxy itself has worked on the request.
func (x *exchange) spent() time.Duration {
	total := time.Since(x.began)
	if !x.sent.IsZero() && x.answered.After(x.sent) {
		total -= x.answered.Sub(x.sent)
	}
	return max(0, total-time.Duration(x.away.Load()))
}

// elsewhere is a reader whose time is not the proxy's.
type elsewhere struct {
	io.ReadCloser
	of *exchange
}

func (e *elsewhere) Read(p []byte) (int, error) {
	began := time.Now()
	n, err := e.ReadCloser.Read(p)
	e.of.waited(began)
	return n, err
}

// waited notes that somebody else was waited for since then.
func (x *exchange) waited(since time.Time) { x.away.Add(int64(time.Since(since))) }
