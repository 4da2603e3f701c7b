package rewrite

import (
	"errors"
	"io"
	"sync"
)

// What a stream holds at rest, and what it holds at most of what it has read.
const (
	restSize = 1 << 10
	// A watch's event is passed on in one go, unless it is longer than this.
	eventSize = 32 << 10
)

var buffers, smallBuffers sync.Pool

// buffer is a buffer of its full length, which is size at least.
func buffer(from *sync.Pool, size int) *[]byte {
	if pooled, found := from.Get().(*[]byte); found {
		*pooled = (*pooled)[:cap(*pooled)]
		return pooled
	}
	fresh := make([]byte, size)
	return &fresh
}

// Reader reads a JSON body from another reader and rewrites it on the way. It
// holds 64 KiB of it at most, and what it becomes; between the events of a
// watch 1 KiB. What is malformed, or is cut off, or makes it panic, ends in an
// *Error and never in io.EOF.
type Reader struct {
	src     io.Reader
	scanner scanner
	// window[:end] is read and not understood yet. It is the whole of small, or of
	// large.
	window       []byte
	end          int
	small, large *[]byte
	// hungry says that the last read filled the window.
	hungry bool
	// decided is where scanner.out comes from, sent how much of it is read.
	decided *[]byte
	sent    int
	err     error
}

// newReader reads a document, or many that follow one another, from src.
func newReader(src io.Reader, d Direction, root *place, many bool) *Reader {
	return &Reader{src: src, scanner: scanner{dir: d, root: root, many: many, state: between}}
}

// OtherPrefixes counts the groups so far that have one of the bases with a
// prefix that is not in the table.
func (r *Reader) OtherPrefixes() int {
	return r.scanner.otherPrefixes
}

// Read returns what is decided. Of a watch that is whole events, if they are of a
// common length, as soon as they are there.
func (r *Reader) Read(p []byte) (int, error) {
	for {
		if due := r.due(); r.sent < due {
			n := copy(p, r.scanner.out[r.sent:due])
			r.sent += n
			r.rest()
			return n, nil
		}
		if r.err != nil || len(p) == 0 {
			r.rest()
			return 0, r.err
		}
		r.fill()
	}
}

// WriteTo writes what is decided as soon as it is, without another copy. Of a watch
// each write is of whole events, if they are of a common length.
func (r *Reader) WriteTo(w io.Writer) (written int64, err error) {
	for {
		if due := r.due(); r.sent < due {
			n, err := w.Write(r.scanner.out[r.sent:due])
			written += int64(n)
			if err != nil {
				return written, err
			}
			r.sent = due
		}
		r.rest()
		switch {
		case errors.Is(r.err, io.EOF):
			return written, nil
		case r.err != nil:
			return written, r.err
		}
		r.fill()
	}
}

// due is how much of what is decided may be passed on.
func (r *Reader) due() int {
	all := len(r.scanner.out)
	if !r.scanner.many || r.err != nil || all-r.sent >= eventSize {
		return all
	}
	return r.scanner.whole
}

// rest gives back what is needed only while there is something to read: at the
// end all of it.
func (r *Reader) rest() {
	if r.sent < len(r.scanner.out) {
		return
	}
	r.sent, r.scanner.whole = 0, 0
	if r.decided != nil && cap(r.scanner.out) <= 2*maxHeld {
		*r.decided = r.scanner.out
		buffers.Put(r.decided)
	}
	r.scanner.out, r.decided = nil, nil
	if r.large != nil && (r.err != nil || r.end == 0 && r.scanner.many && !r.hungry) {
		buffers.Put(r.large)
		r.large = nil
		if r.small != nil {
			r.window = *r.small
		}
	}
	if r.small != nil && r.err != nil {
		smallBuffers.Put(r.small)
		r.small, r.window = nil, nil
	}
}

// fill reads once, and decides what can be decided.
func (r *Reader) fill() {
	// Who reads a body may be a transport, whose panic would end the process.
	defer func() {
		if cause := recover(); cause != nil {
			r.err = Broken(r.scanner.dir, cause)
		}
	}()
	r.grow()
	n, err := r.src.Read(r.window[r.end:])
	r.end += n
	r.hungry = r.end == len(r.window)
	s := &r.scanner
	if r.decided == nil {
		r.decided = buffer(&buffers, maxHeld)
		s.out = (*r.decided)[:0]
	}
	s.out = append(s.out[:0], s.out[r.sent:]...)
	s.whole, r.sent = max(0, s.whole-r.sent), 0
	s.in, s.full = r.window[:r.end], r.end == maxHeld
	r.err = s.run()
	s.base += int64(s.pos)
	r.end = copy(r.window, s.in[s.pos:])
	s.in, s.pos, s.copied = nil, 0, 0
	switch {
	case r.err != nil:
	case errors.Is(err, io.EOF):
		if r.err = s.finish(); r.err == nil {
			r.err = io.EOF
		}
	default:
		r.err = err
	}
}

// grow makes room for what is read next: little at first, and all that may be held
// as soon as that was too little.
func (r *Reader) grow() {
	if r.window == nil {
		r.small = buffer(&smallBuffers, restSize)
		r.window = *r.small
	}
	if r.hungry && r.large == nil {
		r.large = buffer(&buffers, maxHeld)
		copy(*r.large, r.window)
		r.window = (*r.large)[:maxHeld]
	}
}
