package apiproxy

import (
	"net"
	"sync"
	"time"
)

// answerAfter is how long an answer may still be read after no more of its request could be sent.
const answerAfter = 30 * time.Second

// early is a connection to the server for documents. A server that refuses a body before it has read it answers and closes: what is
// sent then fails, and the library would close the connection for that, with the answer in it. The failure is kept from the library
// until it closes the connection itself, as it does when it has read the answer, or that there is none.
type early struct {
	net.Conn
	closed chan struct{}
	close  sync.Once
	// failed is the first failure. Only the goroutine that writes knows it.
	failed error
}

func newEarly(conn net.Conn) *early { return &early{Conn: conn, closed: make(chan struct{})} }

// Write is for the library. After a failure nothing more is sent: the server would take it for what follows what it has.
func (e *early) Write(b []byte) (int, error) {
	if e.failed != nil {
		return 0, e.failed
	}
	n, err := e.Conn.Write(b)
	if err == nil {
		return n, nil
	}
	e.failed = err
	limit := time.NewTimer(answerAfter)
	defer limit.Stop()
	select {
	case <-e.closed:
	case <-limit.C:
	}
	return n, err
}

// SetWriteDeadline is for TLS, which bounds its last word by it, before it closes the connection: nobody waits for an answer any more.
func (e *early) SetWriteDeadline(t time.Time) error {
	e.end()
	return e.Conn.SetWriteDeadline(t)
}

// Close is for the library, too.
func (e *early) Close() error {
	e.end()
	return e.Conn.Close()
}

func (e *early) end() { e.close.Do(func() { close(e.closed) }) }
