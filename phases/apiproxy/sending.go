package apiproxy

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/capstan-capi/capstan/phases/rewrite"
	"github.com/capstan-capi/capstan/phases/rewrite/protobuf"
)

const (
	// pieceTimeout is how long a client of capi-proxy may take for the next piece of a body, or of an answer that is held.
	pieceTimeout = 30 * time.Second
	// bodyTimeout is how long it may take for the whole of one that is held, or of what is read before a request is sent.
	bodyTimeout = 60 * time.Second
)

// smallBody is what is read before the request is sent, in bytes: a body that is no longer is refused before the server hears of
// it, has its length told, and can be sent again if the server has not taken it.
const smallBody = 32 << 10

// send prepares what the client says for the server.
func (p *Proxy) send(w http.ResponseWriter, r *http.Request, x *exchange) *refusal {
	header, refused := outgoing(r.Header, x.request, isUpgrade(r))
	if refused != nil {
		return refused
	}
	r.Header = header
	// Headers behind a body are looked at by nobody.
	r.Trailer = nil
	if x.request.Class == rewrite.Opaque {
		return nil
	}
	accept, err := x.request.Accept(strings.Join(header.Values("Accept"), ","))
	if err != nil {
		return refusalOf(err)
	}
	if x.request.Class == rewrite.Discovery {
		accept, x.asProtobuf = inJSON(accept)
	}
	setOrDelete(header, "Accept", accept)
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		r.Body = http.NoBody
		return nil
	}
	return p.sendBody(w, r, x)
}

func setOrDelete(header http.Header, name, value string) {
	if value == "" {
		header.Del(name)
		return
	}
	header.Set(name, value)
}

// sendBody puts the translation in the place of the body.
func (p *Proxy) sendBody(w http.ResponseWriter, r *http.Request, x *exchange) *refusal {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return refuse(http.StatusUnsupportedMediaType, "a body with the content encoding %.40q cannot be translated: send it as it is", encoding)
	}
	if !x.request.Class.IsObjects() {
		return refuse(http.StatusBadRequest, "%s takes no body", x.request.Info.Path)
	}
	source := &clientBody{from: r.Body, x: x, deadline: http.NewResponseController(w).SetReadDeadline}
	source.end = time.Now().Add(bodyTimeout)
	contentType := r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(contentType)
	if err == nil && media == protobuf.ContentType {
		whole, refused := p.heldBody(source, x)
		if refused == nil {
			setBody(r, whole)
		}
		return refused
	}
	from, empty := begun(source)
	if empty {
		r.Body, r.ContentLength = http.NoBody, 0
		return nil
	}
	contentType, body, err := x.request.Body(contentType, from, x.body.grow)
	if err != nil {
		return refusalOf(err)
	}
	setOrDelete(r.Header, "Content-Type", contentType)
	return p.sendSmall(r, x, &prefixed{body, func() { p.metrics.otherPrefix(x) }}, source)
}

// begun reads the first piece of a body, whose length may not have been told, and says whether there is none.
func begun(source io.Reader) (from io.Reader, empty bool) {
	first := make([]byte, 512)
	n, err := source.Read(first)
	if n == 0 && errors.Is(err, io.EOF) {
		return nil, true
	}
	if err == nil {
		return io.MultiReader(bytes.NewReader(first[:n]), source), false
	}
	return io.MultiReader(bytes.NewReader(first[:n]), failing{err}), false
}

// failing goes on as a reader did that has failed, or has ended.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// sendSmall has a small body sent as a whole, and another one as it comes.
func (p *Proxy) sendSmall(r *http.Request, x *exchange, body io.Reader, source *clientBody) *refusal {
	first := make([]byte, 0, min(smallBody, max(512, r.ContentLength+r.ContentLength/8)))
	for len(first) < smallBody {
		if len(first) == cap(first) {
			first = append(make([]byte, 0, min(smallBody, 2*cap(first))), first...)
		}
		n, err := body.Read(first[len(first):cap(first)])
		first = first[:len(first)+n]
		if errors.Is(err, io.EOF) {
			setBody(r, first)
			return nil
		}
		if err != nil {
			return p.brokenOff(x, err)
		}
	}
	source.end = time.Time{}
	r.Body = &passing{Reader: io.MultiReader(bytes.NewReader(first), body), from: source, fail: func(err error) { x.broken.Store(p.brokenOff(x, err)) }}
	r.ContentLength = -1
	r.Header.Del("Content-Length")
	return nil
}

// setBody sends a body that can be sent again.
func setBody(r *http.Request, body []byte) {
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.ContentLength = int64(len(body))
	r.Header.Del("Content-Length")
}

// brokenOff is the answer to a client whose body could not be passed on: the server has not seen the end of it.
func (p *Proxy) brokenOff(x *exchange, err error) *refusal {
	switch {
	case p.untranslated(x, err, rewrite.ToServer):
	case errors.Is(err, errNoRoom):
		return noRoom()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refuse(http.StatusRequestTimeout, "the body did not come within %s: nothing was acted upon, send it again", pieceTimeout)
	}
	return refusalOf(err)
}

// heldBody translates a body that can be translated as a whole only.
func (p *Proxy) heldBody(source *clientBody, x *exchange) ([]byte, *refusal) {
	src, err := x.body.whole(source)
	if err != nil {
		return nil, p.brokenOff(x, err)
	}
	out, err := protobuf.Object(make([]byte, 0, len(src)+64), src, protobuf.TextsOf(x.request, rewrite.ToServer))
	if err != nil {
		return nil, p.brokenOff(x, err)
	}
	return out, nil
}

// clientBody reads what the client sends, and bounds how long it may take.
type clientBody struct {
	from     io.ReadCloser
	x        *exchange
	deadline func(time.Time) error
	// end is when the whole of it has to be there; zero if it goes on as it comes.
	end time.Time
}

func (c *clientBody) Read(b []byte) (int, error) {
	until := time.Now().Add(pieceTimeout)
	if !c.end.IsZero() && c.end.Before(until) {
		until = c.end
	}
	if !c.x.listen(c.deadline, until) {
		return 0, http.ErrBodyReadAfterClose
	}
	began := time.Now()
	n, err := c.from.Read(b)
	c.x.waited(began)
	c.x.said()
	if err != nil {
		// The server of HTTP goes on reading, to learn that the client is gone.
		c.x.listen(c.deadline, time.Time{})
	}
	return n, err
}

// passing is a body that is translated on its way.
type passing struct {
	io.Reader
	from *clientBody
	fail func(error)
}

func (p *passing) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		p.fail(err)
	}
	return n, err
}

func (p *passing) Close() error { return p.from.from.Close() }
