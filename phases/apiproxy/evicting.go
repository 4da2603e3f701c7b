package apiproxy

import (
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// roomWait is how long a connection of capi-proxy has to show the token before it may go for a new one.
const roomWait = 100 * time.Millisecond

// evicting has a server hold so many connections at most. For a new one the oldest is closed of those that ask nothing, or of all if each
// asks: whoever keeps connections open must not keep others out. What is done for one that was closed goes on until it is noticed, so
// those count, too: where as many are on their way out, the new one is closed.
type evicting struct {
	limit int
	mutex sync.Mutex
	// conns are those that are open, by their age, and going those that were closed and that the server still knows.
	conns []*waiting
	going map[net.Conn]bool
	// fewer is told to who waits for room.
	fewer chan struct{}
}

// waiting is a connection that may be closed for another one.
type waiting struct {
	conn net.Conn
	// idle is between an answer and the next request. One that is new asks: how much of a header has come is not told.
	idle bool
	// since is when it came.
	since time.Time
}

func newEvicting(limit int) *evicting {
	return &evicting{limit: limit, going: map[net.Conn]bool{}, fewer: make(chan struct{}, 1)}
}

// note is for the server, which tells of each connection what becomes of it.
func (e *evicting) note(conn net.Conn, state http.ConnState) {
	if out := e.noted(conn, state); out != nil {
		_ = out.Close() // nobody is told more than that it is closed
	}
}

// noted returns the connection that has to go.
func (e *evicting) noted(conn net.Conn, state http.ConnState) net.Conn {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	switch state {
	case http.StateNew:
		return e.add(conn)
	case http.StateActive, http.StateIdle:
		if at := e.at(conn); at >= 0 {
			e.conns[at].idle = state == http.StateIdle
		}
	case http.StateHijacked, http.StateClosed:
		e.drop(conn)
	}
	return nil
}

func (e *evicting) add(conn net.Conn) (out net.Conn) {
	if len(e.conns) >= e.limit {
		if len(e.going) >= e.limit {
			return conn
		}
		at := e.first()
		out = e.conns[at].conn
		e.conns = slices.Delete(e.conns, at, at+1)
		e.going[out] = true
	}
	e.conns = append(e.conns, &waiting{conn: conn, since: time.Now()})
	return out
}

// first is the place of the one that goes first.
func (e *evicting) first() int {
	return max(0, slices.IndexFunc(e.conns, func(w *waiting) bool { return w.idle }))
}

func (e *evicting) at(conn net.Conn) int {
	return slices.IndexFunc(e.conns, func(w *waiting) bool { return w.conn == conn })
}

func (e *evicting) drop(conn net.Conn) {
	e.remove(conn)
	delete(e.going, conn)
}

func (e *evicting) remove(conn net.Conn) {
	if at := e.at(conn); at >= 0 {
		e.conns = slices.Delete(e.conns, at, at+1)
		e.tell()
	}
}

// trust has a connection be closed for no other one from now on.
func (e *evicting) trust(conn net.Conn) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.remove(conn)
}

func (e *evicting) tell() {
	select {
	case e.fewer <- struct{}{}:
	default: // it was told already
	}
}

// stays is how long the connection that is to go for a new one must be left alone still.
func (e *evicting) stays() time.Duration {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if len(e.conns) < e.limit {
		return 0
	}
	return roomWait - time.Since(e.conns[e.first()].since)
}

// await waits for room, or until the connection that is to go has had its time.
func (e *evicting) await() {
	for {
		wait := e.stays()
		if wait <= 0 {
			return
		}
		limit := time.NewTimer(wait)
		select {
		case <-e.fewer:
		case <-limit.C:
		}
		limit.Stop()
	}
}

// unhurried is a listener that takes no connection while one would have to go for it that has just come: clients that open many at once
// have each of them known before. Who opens many and says nothing holds others up for as long as that takes, a few seconds at most.
type unhurried struct {
	net.Listener
	room *evicting
}

// Accept is that of a net.Listener. One goroutine calls it.
func (u unhurried) Accept() (net.Conn, error) {
	conn, err := u.Listener.Accept()
	if err == nil {
		u.room.await()
	}
	return conn, err
}
