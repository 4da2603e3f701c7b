package apiproxy

import (
	"context"
	"net"
	"sync"
	"time"
)

// gatherLimit bounds what is gathered of an answer before it is sent, in bytes.
const gatherLimit = 16 << 10

// acknowledgeTimeout is how long a client of capi-proxy may acknowledge nothing, or have no room, while a document is sent to it.
const acknowledgeTimeout = 30 * time.Second

// gathering is a connection of a client. The library writes an answer in pieces of 4 KiB, of which each would be a call of the kernel
// and would wake the client: while an answer is gathered they are sent together. Only the goroutine of the request writes.
type gathering struct {
	net.Conn
	on   bool
	held *[]byte
	// document says that what is sent is one, and bounded that the client may no longer leave it unacknowledged for as long as it
	// likes.
	document, bounded bool
}

// gathered are buffers of what is gathered.
var gathered sync.Pool

// gather begins to gather. None does nothing.
func (g *gathering) gather() {
	if g != nil {
		g.on = true
	}
}

// gatherDocument begins to gather an answer that has an end.
func (g *gathering) gatherDocument() {
	g.gather()
	if g != nil {
		g.document = true
	}
}

// Write is for the library.
func (g *gathering) Write(b []byte) (int, error) {
	if !g.on {
		return g.Conn.Write(b)
	}
	if g.held == nil {
		buffer, ok := gathered.Get().(*[]byte)
		if !ok {
			buffer = new([]byte)
		}
		g.held = buffer
	}
	if len(*g.held)+len(b) <= gatherLimit {
		*g.held = append(*g.held, b...)
		return len(b), nil
	}
	if g.document && !g.bounded {
		// What is shorter never waits for the client: the kernel takes it.
		g.bounded = true
		acknowledge(g.Conn, acknowledgeTimeout)
	}
	if err := g.send(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// send sends what was gathered, and more. Since the library takes that for sent, the connection ends where it cannot be.
func (g *gathering) send(more ...[]byte) error {
	if !g.holds() {
		return nil
	}
	pieces := append(net.Buffers{*g.held}, more...)
	_, err := pieces.WriteTo(g.Conn)
	if err != nil {
		_ = g.Close() // the error that counts is that of sending
	}
	*g.held = (*g.held)[:0]
	gathered.Put(g.held)
	g.held = nil
	return err
}

// holds says whether something was gathered that was not sent.
func (g *gathering) holds() bool { return g != nil && g.held != nil }

// end sends what was gathered, and gathers no more.
func (g *gathering) end() error {
	err := g.send()
	if g == nil {
		return err
	}
	if g.bounded {
		acknowledge(g.Conn, 0)
	}
	g.on, g.document, g.bounded = false, false, false
	return err
}

// gatheringListener makes each connection one that gathers.
type gatheringListener struct{ net.Listener }

// Accept is that of a net.Listener.
func (l gatheringListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &gathering{Conn: conn}, nil
}

type gatheringKey struct{}

// withGathering has the requests of a connection know it.
func withGathering(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, gatheringKey{}, conn)
}

// gatheringOf is the connection of a request; nil if it is none that gathers.
func gatheringOf(ctx context.Context) *gathering {
	g, _ := ctx.Value(gatheringKey{}).(*gathering)
	return g
}
