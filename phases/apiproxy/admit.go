package apiproxy

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"k8s.io/streaming/pkg/httpstream"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

// admit understands a request of somebody who may ask, or says why it goes no further. Nothing was sent upstream then.
func (p *Proxy) admit(r *http.Request) (*rewrite.Request, *refusal) {
	if !p.knows(r) {
		return nil, refuse(http.StatusUnauthorized, "this proxy answers only to who sends the token in the kubeconfig that it has written: read that file again, as by a restart")
	}
	if !r.ProtoAtLeast(1, 1) {
		// Its answers end with the connection: one that breaks off would look whole.
		return nil, refuse(http.StatusHTTPVersionNotSupported, "%.20q is not served: use HTTP/1.1", r.Proto)
	}
	if !isLoopback(r.Host) {
		return nil, refuse(http.StatusForbidden, "this proxy answers to loopback names only, not to %.100q: use http://localhost and its port", r.Host)
	}
	for _, name := range tokens(r.Header, "Connection") {
		if !slices.Contains([]string{"upgrade", "keep-alive", "close"}, strings.ToLower(name)) {
			return nil, refuse(http.StatusBadRequest, "the header Connection names %.100q: it may name upgrade, keep-alive and close only", name)
		}
	}
	for _, name := range []string{"Content-Type", "Content-Encoding", "Upgrade", "Host"} {
		if len(r.Header.Values(name)) > 1 {
			return nil, refuse(http.StatusBadRequest, "the header %s was sent more than once: send it once", name)
		}
	}
	parsed, err := rewrite.ParseRequest(r.Method, r.URL)
	if err != nil {
		return nil, refusalOf(err)
	}
	if parsed.Class == rewrite.Opaque {
		return parsed, nil
	}
	if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
		return nil, refuse(http.StatusBadRequest, "the query cannot be read in one way only: %v", err)
	}
	if isUpgrade(r) {
		return nil, refuse(http.StatusNotAcceptable, "%s is not served by WebSocket: ask for it by plain HTTP", parsed.Info.Path)
	}
	return parsed, nil
}

// isUpgrade says whether a request asks for a stream of one of the protocols that API servers speak.
func isUpgrade(r *http.Request) bool {
	protocol := strings.ToLower(r.Header.Get("Upgrade"))
	return httpstream.IsUpgradeRequest(r) && (protocol == "websocket" || strings.HasPrefix(protocol, "spdy/"))
}

func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && address.IsLoopback()
}

// tokens are the words of a list in a header.
func tokens(header http.Header, name string) []string {
	var list []string
	for _, line := range header.Values(name) {
		for token := range strings.SplitSeq(line, ",") {
			if token = strings.TrimSpace(token); token != "" {
				list = append(list, token)
			}
		}
	}
	return list
}

// bearerProtocol is how a browser hands over a token with a WebSocket.
const bearerProtocol = "base64url.bearer.authorization.k8s.io."

// outgoing are the headers that go upstream: without what claims an identity, and without what would have the answer be other
// than what is translated.
func outgoing(in http.Header, r *rewrite.Request, upgrade bool) (http.Header, *refusal) {
	out := in.Clone()
	for name := range out {
		if claimsIdentity(name) {
			delete(out, name)
		}
	}
	if protocols := tokens(out, "Sec-Websocket-Protocol"); len(protocols) > 0 {
		out.Set("Sec-Websocket-Protocol", strings.Join(slices.DeleteFunc(protocols, func(protocol string) bool {
			return strings.HasPrefix(protocol, bearerProtocol)
		}), ", "))
	}
	out.Del("Expect")
	if !upgrade {
		out.Del("Upgrade")
		out.Del("Connection")
	}
	if r.Class != rewrite.Opaque || !r.Info.IsResourceRequest {
		// The library would send a request with one of them again, of which the server may have taken notice.
		out.Del("Idempotency-Key")
		out.Del("X-Idempotency-Key")
	}
	if r.Class == rewrite.Opaque {
		return out, nil
	}
	out.Set("Accept-Encoding", "identity")
	for _, name := range []string{"Range", "If-Range", "If-Modified-Since", "If-Unmodified-Since"} {
		out.Del(name)
	}
	return out, conditions(out)
}

// conditions takes the rules off the tags that the client has kept.
func conditions(out http.Header) *refusal {
	for _, name := range []string{"If-None-Match", "If-Match"} {
		values := out.Values(name)
		if len(values) == 0 {
			continue
		}
		own := rewrite.UnstampETags(strings.Join(values, ", "))
		switch {
		case own != "":
			out.Set(name, own)
		case name == "If-Match":
			return refuse(http.StatusPreconditionFailed, "no tag of If-Match is of what this proxy serves now: read it again")
		default:
			out.Del(name)
		}
	}
	return nil
}

func claimsIdentity(name string) bool {
	switch name {
	case "Authorization", "Proxy-Authorization", "X-Real-Ip", "Forwarded":
		return true
	}
	return strings.HasPrefix(name, "X-Remote-") || strings.HasPrefix(name, "X-Forwarded-")
}
