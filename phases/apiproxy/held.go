package apiproxy

import (
	"errors"
	"io"
	"net/http"
	"sync"

	"golang.org/x/sync/semaphore"
)

// heldLimit bounds what all requests together hold of bodies that can be translated as a whole only, in bytes. What is made of
// a body counts too.
const heldLimit = 32 << 20

// heldStep is how much is asked for at a time: a body that never comes holds no more.
const heldStep = 32 << 10

var errNoRoom = errors.New("what has to be held as a whole is more than there is room for")

// budget is the room for bodies.
type budget struct{ free *semaphore.Weighted }

func newBudget(limit int64) *budget { return &budget{free: semaphore.NewWeighted(limit)} }

// hold takes so many bytes, or says that they are not free.
func (b *budget) hold(bytes int) (release func(), err error) {
	if !b.free.TryAcquire(int64(bytes)) {
		return nil, errNoRoom
	}
	return func() { b.free.Release(int64(bytes)) }, nil
}

// lease is what one body holds. A transport may go on reading a body after its answer came, so that an end is for good.
type lease struct {
	of    *budget
	mutex sync.Mutex
	bytes int64
	ended bool
}

func (l *lease) grow(bytes int) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.ended || !l.of.free.TryAcquire(int64(bytes)) {
		return errNoRoom
	}
	l.bytes += int64(bytes)
	return nil
}

func (l *lease) end() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.of.free.Release(l.bytes)
	l.bytes, l.ended = 0, true
}

// keep gives back all but so many bytes.
func (l *lease) keep(bytes int) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if more := l.bytes - int64(bytes); more > 0 {
		l.of.free.Release(more)
		l.bytes -= more
	}
}

// whole reads a body to its end. What it and a translation of it take is held by the lease, also when it fails.
func (l *lease) whole(from io.Reader) ([]byte, error) {
	var body []byte
	for {
		if len(body) == cap(body) {
			more := max(heldStep, cap(body))
			if err := l.grow(2 * more); err != nil {
				return nil, err
			}
			body = append(make([]byte, 0, len(body)+more), body...)
		}
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(err, io.EOF) {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// noRoom is the answer to a client whose body there is no room for. Nothing was sent.
func noRoom() *refusal {
	r := refuse(http.StatusTooManyRequests, "%v: nothing was acted upon; send it as JSON, or try again", errNoRoom)
	r.after = 1
	return r
}
