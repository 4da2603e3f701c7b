package apiproxy

import (
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"time"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

// events are what a watch goes on with after its header, which the reverse proxy has passed on.
type events struct {
	upstream io.Closer
	// write writes each event as it comes, until there are no more.
	write func(io.Writer) error
}

// follow has a watch passed on event by event. It is not the reverse proxy that does so: it would hold a buffer for as long as the
// watch is open, and a large stack.
func (p *Proxy) follow(response *http.Response, x *exchange, write func(io.Writer) error) {
	x.events = &events{response.Body, write}
	response.Body = http.NoBody
	response.Header.Del("Content-Length")
	// It has the connection for itself.
	response.Header.Set("Connection", "close")
	response.ContentLength = 0
}

// handOver has the events passed on by a goroutine of their own, on a connection that is theirs alone from now on: that of the
// request would hold its stack, and the library its buffers, for as long as the watch is open. end ends what is asked of the
// server, done is called when all is over.
func (p *Proxy) handOver(told *teller, x *exchange, end, done func()) {
	p.streams.Add(1)
	conn, _, err := http.NewResponseController(told.ResponseWriter).Hijack()
	if err != nil {
		_ = x.events.upstream.Close() // nobody gets what it says
		p.streams.Done()
		panic(http.ErrAbortHandler)
	}
	x.outlast()
	// The transport remembers who asked: that must not be the library's answer, with all its buffers.
	told.ResponseWriter, told.conn = nil, nil
	to := newFollower(conn)
	if x.holds {
		to.patience = p.patience
	}
	p.metrics.watches.Inc()
	go func() {
		defer p.streams.Done()
		defer p.metrics.watches.Dec()
		defer done()
		defer conn.Close()
		defer x.events.upstream.Close()
		if err := to.pass(x.events); err != nil {
			p.tell(x, err)
		}
	}()
	go leave(conn, end)
}

// leave ends a watch when its client is gone. What that says before is nobody's business.
func leave(conn net.Conn, end func()) {
	for said := make([]byte, 16); ; {
		if _, err := conn.Read(said); err != nil {
			end()
			return
		}
	}
}

// to has a panic of what translates end one watch only, as an error that is counted.
func (e *events) to(w io.Writer) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = rewrite.Broken(rewrite.ToClient, cause)
		}
	}()
	return e.write(w)
}

// follower is a client that watches, behind a connection of which nobody else knows any more.
type follower struct {
	conn   *gathering
	chunks io.WriteCloser
	// patience is for each event, if it takes room until the client has read it.
	patience time.Duration
}

func newFollower(conn net.Conn) *follower {
	to, gathers := conn.(*gathering)
	if !gathers {
		to = &gathering{Conn: conn}
	}
	to.gather()
	return &follower{conn: to, chunks: httputil.NewChunkedWriter(to)}
}

// pass sends the header that was gathered, and the events. What was sent is sent: only after the last of them the answer ends.
func (f *follower) pass(of *events) error {
	err := f.conn.send()
	if err == nil {
		err = of.to(f)
	}
	if err == nil {
		err = f.chunks.Close()
	}
	if err == nil {
		_, err = io.WriteString(f.conn, "\r\n")
	}
	if err != nil {
		return err
	}
	return f.conn.send()
}

// Write sends what is one event, or several, at once.
func (f *follower) Write(b []byte) (int, error) {
	if f.patience > 0 {
		// A connection without deadlines is none of a client that could be slow: a test's.
		_ = f.conn.SetWriteDeadline(time.Now().Add(f.patience))
		// The end of the watch is written, too, however long after its last event.
		defer func() { _ = f.conn.SetWriteDeadline(time.Time{}) }()
	}
	n, err := f.chunks.Write(b)
	if err == nil {
		err = f.conn.send()
	}
	return n, err
}
