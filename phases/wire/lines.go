package wire

import (
	"bufio"
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tidwall/gjson"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// maxLine is how long an event of a watch may be, in bytes: many times what etcd takes of an object.
const maxLine = 16 << 20

// lines finds the events of a watch: API servers write each as a line of JSON. The ordinary way to find the end of an event is to go
// over its JSON letter by letter, which is left for a line that holds more than one.
type lines struct{ runtime.Framer }

// NewFrameReader reads a line at a time, and ends with an error at one that is no JSON.
func (lines) NewFrameReader(r io.ReadCloser) io.ReadCloser {
	return &lineReader{Closer: r, from: bufio.NewReader(r)}
}

// framer writes as the ordinary one does, which nobody asks of who only reads.
var framer = lines{json.Framer}

type lineReader struct {
	io.Closer
	from *bufio.Reader
	line []byte // reused
	more []byte // of the line, after the event
	left []byte // of the event, for which there was no room
}

// Read is that of a [runtime.Framer]: with [io.ErrShortBuffer] more of the same event is to come.
func (l *lineReader) Read(into []byte) (n int, err error) {
	if len(l.left) == 0 {
		if l.left, err = l.next(); err != nil {
			return 0, err
		}
	}
	n = copy(into, l.left)
	if l.left = l.left[n:]; len(l.left) > 0 {
		return n, io.ErrShortBuffer
	}
	return n, nil
}

// next is the next event.
func (l *lineReader) next() ([]byte, error) {
	var err error
	for len(l.more) == 0 {
		if l.more, err = l.read(); len(l.more) == 0 && err != nil {
			return nil, err
		}
	}
	if gjson.ValidBytes(l.more) {
		event := l.more
		l.more = nil
		return event, nil
	}
	var event stdjson.RawMessage
	first := stdjson.NewDecoder(bytes.NewReader(l.more))
	switch err := first.Decode(&event); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, io.ErrUnexpectedEOF // by which whoever watches knows a connection that broke
	case err != nil:
		return nil, fmt.Errorf("reading an event of a watch: %w", err)
	}
	l.more = bytes.TrimSpace(l.more[first.InputOffset():])
	return event, nil
}

// read is the next line, which may be empty, and with an error the last.
func (l *lineReader) read() ([]byte, error) {
	l.line = l.line[:0]
	for {
		part, err := l.from.ReadSlice('\n')
		if l.line = append(l.line, part...); len(l.line) > maxLine {
			return nil, fmt.Errorf("an event of a watch is longer than %d bytes", maxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(l.line), err
		}
	}
}
