package apiproxy

import (
	"bufio"
	"net"
	"net/http"
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
		Transport:          p.upstream.transport,
		UpgradeTransport:   p.upstream.upgrades,
		Responder:          responder{p},
	}
	w.code = http.StatusSwitchingProtocols
	handler.ServeHTTP(hijackable{w}, r)
}

// hijackable shows that the connection behind can be taken over.
type hijackable struct{ *teller }

func (h hijackable) Hijack() (conn net.Conn, buffered *bufio.ReadWriter, err error) {
	return http.NewResponseController(h.ResponseWriter).Hijack()
}

// responder answers what never became a stream.
type responder struct{ p *Proxy }

func (r responder) Error(w http.ResponseWriter, request *http.Request, err error) {
	r.p.failed(w, request, err)
}
