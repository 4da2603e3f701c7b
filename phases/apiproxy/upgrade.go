package apiproxy

import (
	"bufio"
	"net"
	"net/http"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/proxy"
)

// upgrade passes on a stream of another protocol, whose bytes are nobody's business.
func (p *Proxy) upgrade(w *teller, r *http.Request, x *exchange) {
	p.streams.Add(1)
	defer p.streams.Done()
	to := *r.URL
	r.URL = &to
	p.upstream.address(r.URL, x.request.URL)
	r.RequestURI = ""
	r.Host = p.upstream.base.Host
	// Where the client sits is not told.
	r.RemoteAddr = ""
	x.sent = time.Now()
	handler := &proxy.UpgradeAwareHandler{
		UpgradeRequired:    true,
		Location:           p.upstream.base,
		UseRequestLocation: true,
		UseLocationHost:    true,
		Transport:          p.upstream.streams,
		UpgradeTransport:   p.upstream.upgrades,
		Responder:          responder{p},
	}
	handler.ServeHTTP(hijackable{w}, r)
}

// hijackable shows that the connection behind can be taken over.
type hijackable struct{ *teller }

func (h hijackable) Hijack() (conn net.Conn, buffered *bufio.ReadWriter, err error) {
	conn, buffered, err = http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	return &overheard{Conn: conn, code: &h.code}, buffered, nil
}

// overheard is a connection that was taken over. What is written to it first is the status line, of a stream or of why there
// is none.
type overheard struct {
	net.Conn
	code *int
	line []byte
}

// statusLine is how long a status line is up to the code.
const statusLine = len("HTTP/1.1 101")

func (o *overheard) Write(b []byte) (int, error) {
	if missing := statusLine - len(o.line); missing > 0 {
		o.line = append(o.line, b[:min(missing, len(b))]...)
		if len(o.line) == statusLine {
			*o.code, _ = strconv.Atoi(string(o.line[statusLine-3:])) // 0 is for who got no answer
		}
	}
	return o.Conn.Write(b)
}

// responder answers what never became a stream.
type responder struct{ p *Proxy }

func (r responder) Error(w http.ResponseWriter, request *http.Request, err error) {
	r.p.failed(w, request, err)
}
