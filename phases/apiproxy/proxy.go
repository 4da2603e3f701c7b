package apiproxy

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
)

// goneAfter is how long a client of capi-proxy without the token may take for the rest of what it says.
const goneAfter = time.Second

// firstByte is how long the server of capi-proxy may take to begin an answer, watches and streams apart.
const firstByte = 70 * time.Second

// doubtAfter is after how long without a byte of an answer a client of capi-proxy that gives up has it ask by new connections only.
const doubtAfter = 3 * time.Second

// Proxy serves the API of one server in translation. It is an http.Handler.
type Proxy struct {
	upstream *upstream
	metrics  *metrics
	room     *budget
	// allowances bound the documents that are under way.
	allowances *allowances
	log        logr.Logger
	silence    time.Duration
	// doubt is what [doubtAfter] says.
	doubt    time.Duration
	patience time.Duration
	forward  *httputil.ReverseProxy
	// token is what each request has to have; empty for nothing.
	token string
	// beginnings are buffers for the beginning of an answer.
	beginnings pool
	// asked counts requests that have begun, and those that have ended.
	asked atomic.Int64
	// streams are watches, and what is of another protocol: the server of HTTP knows nothing of them any more.
	streams sync.WaitGroup
	// strangers are the connections that have not shown the token.
	strangers *evicting
}

// New makes a proxy to the server that the configuration names, with its identity. Metrics are registered with registry.
func New(config *rest.Config, registry prometheus.Registerer, log logr.Logger) (*Proxy, error) {
	upstream, err := newUpstream(config)
	if err != nil {
		return nil, err
	}
	metrics, err := newMetrics(registry)
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		upstream: upstream, metrics: metrics, room: newBudget(heldLimit), allowances: newAllowances(), log: log, silence: firstByte, doubt: doubtAfter, patience: pieceTimeout,
		beginnings: pool{size: smallBody}, strangers: newEvicting(strangersLimit),
	}
	p.forward = &httputil.ReverseProxy{
		Rewrite:        p.address,
		Transport:      p,
		BufferPool:     &pool{size: piece},
		ErrorLog:       libraryLog(log),
		ModifyResponse: p.answer,
		ErrorHandler:   p.failed,
	}
	return p, nil
}

// ServeHTTP answers one request.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	p.asked.Add(1)
	request, refused := p.admit(r)
	if refused == nil || refused.code != http.StatusUnauthorized { // who has the token is known, whatever is asked
		if conn := gatheringOf(r.Context()); conn != nil {
			p.strangers.trust(conn)
		}
	} else {
		turnAway(w)
	}
	if refused != nil {
		p.metrics.refused(refused.code)
		refused.write(w)
		p.asked.Add(1)
		return
	}
	x := &exchange{request: request, began: began, body: lease{of: p.room}}
	if request.OtherPrefix {
		p.metrics.otherPrefix(x)
	}
	told := &teller{ResponseWriter: w, of: x, conn: gatheringOf(r.Context()), patience: p.patience}
	ctx, end := x.watch(r.Context(), p.silence)
	done := func() {
		end()
		told.end()
		x.end()
		p.metrics.done(x, told.code, time.Since(began))
		p.asked.Add(1)
	}
	handedOver := false
	defer func() {
		if !handedOver {
			done()
		}
	}()
	r = r.WithContext(ctx)
	if refused := p.send(w, r, x); refused != nil {
		refused.write(told)
		return
	}
	if isUpgrade(r) {
		p.upgrade(told, r, x)
		return
	}
	p.forward.ServeHTTP(told, r)
	if x.events != nil {
		p.handOver(told, x, end, done)
		handedOver = true
	}
}

// turnAway has a connection end with the answer to somebody without the token, and the library not wait for the rest of the body first.
func turnAway(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(goneAfter)) // a test's connection has none
}

// address has a request sent to what it was understood as.
func (p *Proxy) address(r *httputil.ProxyRequest) {
	p.upstream.address(r.Out.URL, exchangeOf(r.In).request.URL)
	r.Out.Host = ""
	// What a client does not name would be named by the transport.
	if _, named := r.Out.Header["User-Agent"]; !named {
		r.Out.Header.Set("User-Agent", "")
	}
}

// RoundTrip sends a request, for the reverse proxy.
func (p *Proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	x := exchangeOf(r)
	if !x.streams() {
		if err := p.allowances.await(r.Context(), x, r); err != nil {
			return nil, err
		}
		x.asks()
	}
	sent, err := inOne(r)
	if err != nil {
		return nil, err
	}
	x.sent = time.Now()
	response, err := p.upstream.through(x).RoundTrip(sent)
	if err != nil {
		if !x.streams() && (errors.Is(context.Cause(r.Context()), errSilent) || r.Context().Err() != nil && time.Since(x.sent) >= p.doubt) {
			p.upstream.distrust()
		}
		return nil, err
	}
	if x.crowded && response.ProtoMajor < 2 {
		p.upstream.noCrowds.Store(true)
	}
	// Trailers are not translated. They come into the response that was given, at the end of its body.
	own := *response
	own.Trailer = nil
	return &own, nil
}

// inOne has a body that is held here sent together with its header. The reverse proxy has put something around it, and the transport
// sends the header of a body that it does not know ahead: one more call of the kernel, for which the server wakes once more.
func inOne(r *http.Request) (*http.Request, error) {
	if r.GetBody == nil {
		return r, nil
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, err
	}
	own := r.WithContext(r.Context())
	own.Body = body
	return own, nil
}

// failed answers what was not answered.
func (p *Proxy) failed(w http.ResponseWriter, r *http.Request, err error) {
	x := exchangeOf(r)
	if x.answered.IsZero() {
		x.answered = time.Now()
	}
	var own *refusal
	var dialing *net.OpError
	switch broken := x.broken.Load(); {
	case broken != nil:
		broken.write(w)
	case errors.As(err, &own):
		own.write(w)
	case errors.Is(context.Cause(r.Context()), errSilent):
		refuse(http.StatusGatewayTimeout, "kube-apiserver has not begun to answer within %s%s: try again, and look at its load", p.silence, x.mayBeDone()).write(w)
	case r.Context().Err() != nil:
		// The client is gone, and nobody reads an answer.
		w.WriteHeader(statusClientGone)
	case errors.As(err, &dialing) && dialing.Op == "dial":
		refuse(http.StatusBadGateway, "kube-apiserver cannot be reached: %v: nothing was sent; look whether it runs", err).write(w)
	default:
		refuse(http.StatusBadGateway, "kube-apiserver has broken off: %v%s", err, x.mayBeDone()).write(w)
	}
}

// statusClientGone is what nobody reads.
const statusClientGone = 499

// teller remembers the code of an answer, and how long it took the client to take it.
type teller struct {
	http.ResponseWriter
	of   *exchange
	code int
	// conn is where the answer goes, if it can be gathered.
	conn *gathering
	// patience is for a piece of an answer.
	patience time.Duration
}

func (t *teller) Write(b []byte) (int, error) {
	defer t.of.waited(time.Now())
	defer t.bounded()()
	return t.ResponseWriter.Write(b)
}

// FlushError is for http.ResponseController. A document goes on when there is enough of it.
func (t *teller) FlushError() error {
	if !t.of.flushes() {
		return nil
	}
	defer t.of.waited(time.Now())
	defer t.bounded()()
	if err := http.NewResponseController(t.ResponseWriter).Flush(); err != nil {
		return err
	}
	return t.conn.send()
}

// end sends the rest of an answer of which a part was gathered. The library sends another one by itself, in one piece.
func (t *teller) end() {
	if t.conn.holds() {
		defer t.of.waited(time.Now())
		defer t.bounded()()
		_ = http.NewResponseController(t.ResponseWriter).Flush() // a connection that cannot be written to is closed
	}
	_ = t.conn.end()
}

// bounded bounds how long the client may take for a piece of an answer that takes room meanwhile.
func (t *teller) bounded() (end func()) {
	if !t.of.holds {
		return func() {}
	}
	connection := http.NewResponseController(t.ResponseWriter)
	// A connection without deadlines is none of a client that could be slow: a test's.
	_ = connection.SetWriteDeadline(time.Now().Add(t.patience))
	return func() { _ = connection.SetWriteDeadline(time.Time{}) }
}

// WriteHeader leaves out what comes before an answer: its headers are not translated.
func (t *teller) WriteHeader(code int) {
	if code < http.StatusOK && code != http.StatusSwitchingProtocols {
		return
	}
	t.code = code
	t.ResponseWriter.WriteHeader(code)
	switch {
	case code == http.StatusSwitchingProtocols:
	case t.of.streams():
		t.conn.gather()
	default:
		t.conn.gatherDocument()
	}
}

// Unwrap is for http.ResponseController.
func (t *teller) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// pool has buffers of one size used again.
type pool struct {
	buffers sync.Pool
	size    int
}

// piece is how much of an answer is passed on in one go, in bytes.
const piece = 32 << 10

func (p *pool) Get() []byte {
	if buffer, ok := p.buffers.Get().(*[]byte); ok {
		return *buffer
	}
	return make([]byte, p.size)
}

func (p *pool) Put(buffer []byte) { p.buffers.Put(&buffer) }

// libraryLog has a library's lines told only to who asks for them: a client can make it say anything.
func libraryLog(to logr.Logger) *log.Logger {
	if !to.V(1).Enabled() {
		return log.New(io.Discard, "", 0)
	}
	return log.New(lines{to}, "", 0)
}

type lines struct{ to logr.Logger }

func (l lines) Write(text []byte) (int, error) {
	l.to.V(1).Info("The HTTP library says", "text", string(text))
	return len(text), nil
}
