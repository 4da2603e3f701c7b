package apiproxy

import (
	"io"
	"net/http"

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
	response.ContentLength = 0
}

// pass passes the events on. What was sent is sent: an error ends the watch as a broken one.
func (p *Proxy) pass(w *teller, x *exchange) {
	p.metrics.watches.Inc()
	defer p.metrics.watches.Dec()
	defer x.events.upstream.Close()
	err := w.FlushError()
	if err == nil {
		err = x.events.to(flushing{w})
	}
	if err != nil {
		p.tell(x, err)
		panic(http.ErrAbortHandler)
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

// flushing sends each piece at once.
type flushing struct{ to *teller }

func (f flushing) Write(b []byte) (int, error) {
	n, err := f.to.Write(b)
	if err == nil {
		err = f.to.FlushError()
	}
	return n, err
}
