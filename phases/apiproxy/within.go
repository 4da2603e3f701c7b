package apiproxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"
)

// WithinHost is the address of a proxy for clients that reach it by [Proxy.Within].
const WithinHost = "http://localhost"

// withinIdle is how long a connection within the process waits for its next request.
const withinIdle = 30 * time.Second

// Within is how a client in the same process asks the proxy. It is served as by [Server], over memory: no other process can use
// the identity that the proxy has.
func (p *Proxy) Within() http.RoundTripper {
	server := (&Server{proxy: p}).apiServer()
	server.ConnState = nil // nobody is a stranger here
	return &http.Transport{
		IdleConnTimeout: withinIdle, DisableCompression: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			go func() { _ = server.Serve(&single{conn: there}) }() // it ends once the connection is taken
			return here, nil
		},
	}
}

// single is a listener that has one connection.
type single struct{ conn net.Conn }

func (l *single) Accept() (net.Conn, error) {
	if l.conn == nil {
		return nil, io.EOF
	}
	conn := l.conn
	l.conn = nil
	return conn, nil
}

func (l *single) Close() error { return nil }

func (l *single) Addr() net.Addr { return &net.UnixAddr{Net: "pipe"} }
