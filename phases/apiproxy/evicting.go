package apiproxy

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// evicting is a listener that has so many connections at most. For a new one the oldest is closed of those that ask nothing, or of all
// if each asks: whoever keeps connections open must not keep others out.
type evicting struct {
	net.Listener
	limit int
	mutex sync.Mutex
	// conns are those that are open, by their age.
	conns []*evicted
}

// evicted is a connection that may be closed for another one.
type evicted struct {
	net.Conn
	of     *evicting
	asking bool
}

// Accept is that of a net.Listener.
func (e *evicting) Accept() (net.Conn, error) {
	conn, err := e.Listener.Accept()
	if err != nil {
		return nil, err
	}
	own := &evicted{Conn: conn, of: e}
	if oldest := e.add(own); oldest != nil {
		_ = oldest.Conn.Close() // nobody is told more than that it is closed
	}
	return own, nil
}

// add has a connection known, and returns the one that has to go for it.
func (e *evicting) add(own *evicted) (oldest *evicted) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if len(e.conns) >= e.limit {
		at := max(0, slices.IndexFunc(e.conns, func(conn *evicted) bool { return !conn.asking }))
		oldest = e.conns[at]
		e.conns = slices.Delete(e.conns, at, at+1)
	}
	e.conns = append(e.conns, own)
	return oldest
}

// Close has the connection be none of those that are open.
func (c *evicted) Close() error {
	c.of.mutex.Lock()
	c.of.conns = slices.DeleteFunc(c.of.conns, func(conn *evicted) bool { return conn == c })
	c.of.mutex.Unlock()
	return c.Conn.Close()
}

// noteState is for the server: a connection asks from the first byte of a request until its answer was sent.
func noteState(conn net.Conn, state http.ConnState) {
	if own, is := conn.(*evicted); is {
		own.of.mutex.Lock()
		defer own.of.mutex.Unlock()
		own.asking = state == http.StateActive
	}
}
