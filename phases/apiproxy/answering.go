package apiproxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/capstan-capi/capstan/phases/rewrite"
	"github.com/capstan-capi/capstan/phases/rewrite/protobuf"
)

// The media types of JSON, and of OpenAPI in protobuf as servers and as clients write them.
const (
	mediaJSON    = "application/json"
	openAPIv2    = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
	openAPIv2Old = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	openAPIv3    = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
	openAPIv3Old = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
)

// answer prepares what the server says for the client. Its error, a refusal, is answered in its place.
func (p *Proxy) answer(response *http.Response) error {
	x := exchangeOf(response.Request)
	x.answered = time.Now()
	x.heard()
	if broken := x.broken.Load(); broken != nil {
		return broken
	}
	if x.request.Class == rewrite.Opaque {
		// What has a length is passed on as it comes, too. The header goes on telling it.
		response.ContentLength = -1
		return nil
	}
	p.answerHeader(response.Header, x)
	if response.StatusCode == http.StatusNotModified || response.StatusCode == http.StatusNoContent {
		return nil
	}
	if response.StatusCode >= http.StatusMultipleChoices && response.StatusCode < http.StatusBadRequest {
		// Where it leads to is in the header; the page for people says it again, in the server's words.
		p.whole(response, nil, nil)
		return nil
	}
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return p.garbled(x, fmt.Errorf("the answer has the content encoding %.40q, which was not asked for", encoding))
	}
	if response.Request.Method == http.MethodHead {
		response.Header.Del("Content-Length")
		response.ContentLength = -1
		if media, params, err := mime.ParseMediaType(response.Header.Get("Content-Type")); x.asProtobuf && err == nil && media == mediaJSON {
			response.Header.Set("Content-Type", mime.FormatMediaType(protobuf.ContentType, params))
		}
		return nil
	}
	return p.answerBody(response, x)
}

func (p *Proxy) answerHeader(header http.Header, x *exchange) {
	for i, warning := range header["Warning"] {
		header["Warning"][i] = rewrite.Message(warning)
	}
	if location := header.Get("Location"); location != "" {
		header.Set("Location", x.request.Location(location))
	}
	if tag := header.Get("ETag"); tag != "" {
		header.Set("ETag", rewrite.StampETag(tag))
	}
	// When it was changed says nothing of when the rules were.
	header.Del("Last-Modified")
	header.Del("Accept-Ranges")
	header.Del("Content-Md5")
	header.Del("Digest")
}

// answerBody puts the translation in the place of the body.
func (p *Proxy) answerBody(response *http.Response, x *exchange) error {
	media, params, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if isIndex := x.request.Class == rewrite.OpenAPI && response.StatusCode == http.StatusOK; isIndex && media == "text/plain" {
		// Servers do not say of the index of OpenAPI v3 what it is.
		media = mediaJSON
	}
	body := &elsewhere{response.Body, x}
	switch {
	case err != nil && response.Header.Get("Content-Type") != "":
		return p.garbled(x, err)
	case strings.HasPrefix(media, "text/") || media == "":
		return nil
	case media == protobuf.ContentType && params["stream"] == "watch" && x.watches():
		x.holds = true
		p.follow(response, x, func(w io.Writer) error {
			return protobuf.WatchFrames(w, body, protobuf.TextsOf(x.request, rewrite.ToClient), p.room.hold)
		})
		return nil
	case media == protobuf.ContentType:
		return p.held(response, x, body, func(src []byte) ([]byte, error) {
			return protobuf.Object(make([]byte, 0, len(src)+256), src, protobuf.TextsOf(x.request, rewrite.ToClient))
		})
	case media == openAPIv2 || media == openAPIv2Old:
		return p.held(response, x, body, func(src []byte) ([]byte, error) {
			return protobuf.OpenAPIv2(make([]byte, 0, len(src)+256), src, protobuf.TextsOf(x.request, rewrite.ToClient))
		})
	case media == openAPIv3 || media == openAPIv3Old:
		return p.held(response, x, body, func(src []byte) ([]byte, error) {
			return protobuf.OpenAPIv3(make([]byte, 0, len(src)+256), src, protobuf.TextsOf(x.request, rewrite.ToClient))
		})
	}
	if media != mediaJSON {
		return p.garbled(x, fmt.Errorf("the content type %.80q is not known", media))
	}
	answer := x.request.Answer(response.StatusCode, media, body)
	if events, many := answer.(*rewrite.Reader); many && x.watches() && response.StatusCode == http.StatusOK {
		p.follow(response, x, func(w io.Writer) error {
			_, err := events.WriteTo(w)
			if events.OtherPrefixes() > 0 {
				p.metrics.otherPrefix(x)
			}
			return err
		})
		return nil
	}
	translated := &prefixed{answer, func() { p.metrics.otherPrefix(x) }}
	if x.asProtobuf {
		response.Header.Set("Content-Type", mime.FormatMediaType(protobuf.ContentType, params))
		return p.held(response, x, io.NopCloser(translated), protobuf.Discovery)
	}
	return p.document(response, x, translated)
}

// stream answers with a translation as it is made. What was sent is sent: an error ends the stream as a broken one.
func (p *Proxy) stream(response *http.Response, x *exchange, translated io.Reader, done func()) {
	response.Body = &streamed{Reader: translated, upstream: response.Body, fail: func(err error) { p.tell(x, err) }, done: done}
	response.Header.Del("Content-Length")
	response.ContentLength = -1
}

// document answers with a translation whose beginning is made before the first byte is sent. If that is all, an error is
// answered as one, and the length is told.
func (p *Proxy) document(response *http.Response, x *exchange, translated io.Reader) error {
	first := p.beginnings.Get()
	n, err := io.ReadFull(translated, first)
	switch {
	case err == nil:
		p.stream(response, x, io.MultiReader(bytes.NewReader(first), translated), func() { p.beginnings.Put(first) })
		return nil
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		p.whole(response, first[:n], func() { p.beginnings.Put(first) })
		return nil
	}
	p.beginnings.Put(first)
	return p.garbled(x, err)
}

// held answers with a translation that needs the whole body, if there is room for it.
func (p *Proxy) held(response *http.Response, x *exchange, body io.Reader, translate func([]byte) ([]byte, error)) error {
	room := &lease{of: p.room}
	src, err := room.whole(body)
	if err == nil {
		src, err = translate(src)
	}
	if err != nil {
		room.end()
		return p.garbled(x, err)
	}
	room.keep(cap(src))
	x.holds = true
	p.whole(response, src, room.end)
	return nil
}

func (p *Proxy) whole(response *http.Response, body []byte, done func()) {
	response.Body = &streamed{Reader: bytes.NewReader(body), upstream: response.Body, done: done}
	response.ContentLength = int64(len(body))
	response.Header.Set("Content-Length", strconv.Itoa(len(body)))
}

// garbled is the answer to a client whose answer from the server cannot be translated. What it asked for may be done.
func (p *Proxy) garbled(x *exchange, err error) *refusal {
	p.tell(x, err)
	if errors.Is(err, errNoRoom) {
		return refuse(http.StatusBadGateway, "%v: ask for JSON, or for less at a time with limit%s", err, x.mayBeDone())
	}
	return refuse(http.StatusBadGateway, "the answer of kube-apiserver cannot be translated: %v%s", err, x.mayBeDone())
}

// tell counts and logs what went wrong with an answer.
func (p *Proxy) tell(x *exchange, err error) {
	if !p.untranslated(x, err, rewrite.ToClient) {
		p.log.V(1).Info("An answer was broken off", "verb", x.request.Info.Verb, "class", x.request.Class.String())
	}
}

// untranslated counts and logs a body that cannot be translated, without what is in it. False says that something else is wrong.
func (p *Proxy) untranslated(x *exchange, err error, d rewrite.Direction) bool {
	var wrong *rewrite.Error
	var malformed *protobuf.MalformedError
	if !errors.As(err, &wrong) && !errors.As(err, &malformed) {
		return false
	}
	p.metrics.failed(x, d)
	p.log.Info("A body cannot be translated", "direction", d.String(), "verb", x.request.Info.Verb, "path", x.request.Info.Path, "cause", err.Error())
	return true
}

// mayBeDone says what a client has to reckon with.
func (x *exchange) mayBeDone() string {
	switch x.request.Info.Verb {
	case "get", "list", "watch", "head":
		return ""
	}
	return "; the request may have been acted upon: read the object before trying again"
}

// streamed is a body that is translated on its way.
type streamed struct {
	io.Reader
	upstream io.Closer
	fail     func(error)
	done     func()
}

func (s *streamed) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if err != nil && !errors.Is(err, io.EOF) && s.fail != nil {
		s.fail(err)
		s.fail = nil
	}
	return n, err
}

func (s *streamed) Close() error {
	err := s.upstream.Close()
	if s.done != nil {
		s.done()
		s.done = nil
	}
	return err
}
