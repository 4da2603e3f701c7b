package apiproxy

import (
	"context"
	"net"
	"runtime"
	"sync"
)

// togetherLimit bounds what waits to be sent to the server on a connection, in bytes.
const togetherLimit = 64 << 10

// together is a connection to the server that many watches share. For each event the library tells the server that it was read: a
// call of the kernel, which wakes the server. What is written while others run is sent as one. Nothing waits for time to pass.
type together struct {
	net.Conn
	mutex sync.Mutex
	// changed is told to who waits for room, and to the goroutine that sends.
	changed sync.Cond
	// held is what was written and not sent, spare a buffer for what comes next.
	held, spare []byte
	// err is why no more is sent.
	err error
}

func newTogether(conn net.Conn) *together {
	t := &together{Conn: conn}
	t.changed.L = &t.mutex
	go t.send()
	return t
}

// Write takes what is to be sent. That it could not be is an error of a later call: what is lost then is lost with the connection.
func (t *together) Write(b []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for t.err == nil && len(t.held) > togetherLimit {
		t.changed.Wait()
	}
	if t.err != nil {
		return 0, t.err
	}
	t.held = append(t.held, b...)
	t.changed.Broadcast()
	return len(b), nil
}

// send sends until the connection ends.
func (t *together) send() {
	for {
		held := t.take()
		if held == nil {
			return
		}
		_, err := t.Conn.Write(held)
		t.sent(held, err)
	}
}

// take waits for something to be sent, lets those run who have more of it, and returns all. nil is the end.
func (t *together) take() []byte {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for t.err == nil && len(t.held) == 0 {
		t.changed.Wait()
	}
	t.mutex.Unlock()
	runtime.Gosched()
	t.mutex.Lock()
	if t.err != nil {
		return nil
	}
	held := t.held
	t.held, t.spare = t.spare[:0], nil
	t.changed.Broadcast()
	return held
}

// sent has the buffer used again, and ends a connection that cannot be written to.
func (t *together) sent(buffer []byte, err error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.spare = buffer
	if err != nil && t.err == nil {
		t.err = err
		_ = t.Conn.Close() // the error that counts is that of sending
	}
	t.changed.Broadcast()
}

// Close ends the connection. What was not sent is not sent any more.
func (t *together) Close() error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.err == nil {
		t.err = net.ErrClosed
	}
	t.changed.Broadcast()
	return t.Conn.Close()
}

// dialTogether is for a connection that many watches share.
func dialTogether(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return newTogether(conn), nil
}
