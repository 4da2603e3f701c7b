package apiproxy

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/proxy"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

const (
	// dialTimeout is how long capi-proxy waits for a connection to the API server.
	dialTimeout = 5 * time.Second
	// keepAlive is after how long a connection to the API server is probed that says nothing.
	keepAlive = 15 * time.Second
	// keepAliveInterval is how often it is probed then. A server that answers none of three probes is gone, and an answer breaks that it has begun.
	keepAliveInterval = 5 * time.Second
	// documentIdle is how long a connection to the API server waits for the next document. API servers close it after 90 s, and
	// must not do so when a request comes.
	documentIdle = 30 * time.Second
)

// documentConns is how many connections for documents are kept.
const documentConns = 100

// upstream is the server, and how it is spoken to.
type upstream struct {
	base *url.URL
	// streams and crowds speak HTTP/2 where the server does, documents and upgrades HTTP/1.1, each with connections of its own.
	documents, streams, crowds http.RoundTripper
	upgrades                   proxy.UpgradeRequestRoundTripper
	// noCrowds says that the server does not speak HTTP/2: then nothing is gained by the transport for crowds.
	noCrowds atomic.Bool
}

// through is the transport for a request. A body that comes as the client sends it has a connection for itself: its answer may come
// before its end.
func (u *upstream) through(x *exchange) http.RoundTripper {
	switch {
	case x.streams():
		return u.streams
	case x.crowded && !u.noCrowds.Load():
		return u.crowds
	}
	return u.documents
}

func newUpstream(config *rest.Config) (*upstream, error) {
	config = rest.CopyConfig(config)
	config.DisableCompression = true
	// The client's own name goes on, and its own bounds count.
	config.UserAgent, config.Timeout = "", 0
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("finding the API server: %w", err)
	}
	documents, err := documentTransport(config)
	if err != nil {
		return nil, err
	}
	streams, err := streamTransport(config)
	if err != nil {
		return nil, err
	}
	crowds, err := crowdTransport(config, crowdPing)
	if err != nil {
		return nil, err
	}
	upgrades, err := upgradeTransport(config)
	if err != nil {
		return nil, fmt.Errorf("setting up the transport for streams: %w", err)
	}
	return &upstream{base: base, documents: documents, streams: streams, crowds: crowds, upgrades: upgrades}, nil
}

// streamBuffer is how much of an answer may wait for a client that does not read, in bytes; the library's own is 4 MiB. The server
// may send all of it as one frame: each wakes the proxy.
const streamBuffer = 64 << 10

// documentBuffer is how much of a document the kernel may hold for a client that does not read, in bytes: several segments, or
// the server would wait for timers.
const documentBuffer = 256 << 10

// streamTransport makes a transport for answers without an end, all on one connection of HTTP/2: each costs little while it waits.
func streamTransport(config *rest.Config) (http.RoundTripper, error) {
	return transportFor(config, dialTogether, func(own *http.Transport) {
		own.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: streamBuffer, MaxReadFrameSize: streamBuffer}
	})
}

// crowdPing is for how long the server may say nothing on the connection of crowds until it is asked for a sign of life, and how long
// it may take for that: together as long as the probes of a document's connection.
const crowdPing = 15 * time.Second

// crowdTransport makes a transport for documents of which many are under way, all on one connection of HTTP/2.
func crowdTransport(config *rest.Config, ping time.Duration) (http.RoundTripper, error) {
	return transportFor(config, dialTogether, func(own *http.Transport) {
		own.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: streamBuffer, MaxReadFrameSize: streamBuffer, SendPingTimeout: ping, PingTimeout: ping}
	})
}

// documentTransport makes a transport for answers that end, each on a connection of HTTP/1.1: with HTTP/2 the server would stop
// whenever as much is under way as the proxy may hold, and go on only after both processes were woken.
func documentTransport(config *rest.Config) (http.RoundTripper, error) {
	own := rest.CopyConfig(config)
	own.NextProtos = []string{"http/1.1"}
	return transportFor(own, dialForDocuments, func(own *http.Transport) {
		own.MaxIdleConnsPerHost, own.IdleConnTimeout = documentConns, documentIdle
	})
}

// transportFor makes a transport that nobody else has.
func transportFor(config *rest.Config, dial func(context.Context, string, string) (net.Conn, error), bound func(*http.Transport)) (http.RoundTripper, error) {
	own := rest.CopyConfig(config)
	// A transport with a dialer of its own is not shared.
	own.Dial = dial
	through, err := rest.TransportFor(own)
	if err != nil {
		return nil, fmt.Errorf("setting up the transport to the API server: %w", err)
	}
	for inner := through; ; {
		switch outer := inner.(type) {
		case *http.Transport:
			bound(outer)
			return through, nil
		case utilnet.RoundTripperWrapper:
			inner = outer.WrappedRoundTripper()
		default:
			return through, nil
		}
	}
}

func upgradeTransport(config *rest.Config) (proxy.UpgradeRequestRoundTripper, error) {
	by, err := config.TransportConfig()
	if err != nil {
		return nil, err
	}
	tlsConfig, err := transport.TLSConfigFor(by)
	if err != nil {
		return nil, err
	}
	if tlsConfig != nil {
		tlsConfig.NextProtos = []string{"http/1.1"}
	}
	identity, err := transport.HTTPWrappersForConfig(by, proxy.MirrorRequest)
	if err != nil {
		return nil, err
	}
	plain := &http.Transport{TLSClientConfig: tlsConfig, DialContext: dialForStream, DisableCompression: true}
	return proxy.NewUpgradeRequestRoundTripper(plain, identity), nil
}

// distrust has no other document come by a connection that waits for one: a server that has gone without a word has left them all.
func (u *upstream) distrust() { utilnet.CloseIdleConnectionsFor(u.documents) }

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	probes := net.KeepAliveConfig{Enable: true, Idle: keepAlive, Interval: keepAliveInterval, Count: 3}
	return (&net.Dialer{Timeout: dialTimeout, KeepAliveConfig: probes}).DialContext(ctx, network, address)
}

// dialForDocuments has the server wait where the client does, and its answer read though the request could not be sent.
func dialForDocuments(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if tcp, is := conn.(*net.TCPConn); is {
		_ = tcp.SetReadBuffer(documentBuffer) // a kernel that does not take it has a bound of its own
	}
	return newEarly(conn), nil
}

// dialForStream has a connection end with the request that it is for: nothing else would end one that waits for its answer.
func dialForStream(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := dial(ctx, network, address)
	if err == nil {
		context.AfterFunc(ctx, func() { _ = conn.Close() })
	}
	return conn, err
}

// address makes what is to be asked for a URL of the server's.
func (u *upstream) address(out, wanted *url.URL) {
	out.Scheme, out.Host = u.base.Scheme, u.base.Host
	out.Path, out.RawPath, out.RawQuery = wanted.Path, wanted.RawPath, wanted.RawQuery
	if len(u.base.Path) > 1 {
		prefix := u.base.JoinPath()
		raw := trimSlash(prefix.EscapedPath()) + wanted.EscapedPath()
		out.Path, out.RawPath = trimSlash(prefix.Path)+wanted.Path, raw
	}
}

func trimSlash(path string) string {
	if path != "" && path[len(path)-1] == '/' {
		return path[:len(path)-1]
	}
	return path
}
