package transport

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// listEnd looks for the bookmark that ends the list that a watch begins with,
// in pieces of what is read. It decodes no event: it knows where one begins, and
// by its first bytes whether it is a bookmark. An object of the list that has
// the words of a bookmark in it is none.
type listEnd struct {
	// begins are the first bytes of a bookmark; empty where the encoding is not known, and the words count wherever they are.
	begins []byte
	// framed says that four bytes of length come before each event; otherwise each ends with a line.
	framed bool

	size []byte // what was read of the length of a frame
	left int    // of the frame that is read
	head []byte // of the event that is read
	tail []byte // of the bookmark that is read
}

// words stand in the bookmark that ends the list, in every encoding (metav1.InitialEventsAnnotationKey).
const words = "k8s.io/initial-events-end"

// listEndIn is for an answer of a content type.
func listEndIn(contentType string) *listEnd {
	switch {
	case strings.Contains(contentType, "json"):
		return &listEnd{begins: []byte(`{"type":"BOOKMARK"`)}
	case strings.Contains(contentType, "protobuf"):
		return &listEnd{framed: true, begins: []byte("\x0a\x08BOOKMARK")} // field 1 of metav1.WatchEvent
	}
	return &listEnd{}
}

// in says that the bookmark is in what was read, with what was read before.
func (e *listEnd) in(read []byte) bool {
	for len(read) > 0 {
		var piece []byte
		var last bool
		if e.framed {
			piece, read, last = e.ofFrame(read)
		} else {
			piece, read, last = bytes.Cut(read, []byte("\n"))
		}
		if e.inEvent(piece) {
			return true
		}
		if last {
			e.head, e.tail = e.head[:0], e.tail[:0]
		}
	}
	return false
}

// ofFrame cuts off what belongs to the frame that is read; last says that the frame ends there.
func (e *listEnd) ofFrame(read []byte) (piece, rest []byte, last bool) {
	if e.left == 0 {
		n := min(len(read), 4-len(e.size))
		e.size, read = append(e.size, read[:n]...), read[n:]
		if len(e.size) < 4 {
			return nil, nil, false
		}
		e.left, e.size = int(binary.BigEndian.Uint32(e.size)), e.size[:0]
	}
	n := min(len(read), e.left)
	e.left -= n
	return read[:n], read[n:], e.left == 0
}

// inEvent says that the words are in this piece of an event, with those before, and that it is a bookmark.
func (e *listEnd) inEvent(piece []byte) bool {
	n := min(len(piece), len(e.begins)-len(e.head))
	e.head, piece = append(e.head, piece[:n]...), piece[n:]
	if !bytes.Equal(e.head, e.begins) {
		return false
	}
	e.tail = append(e.tail, piece...)
	if bytes.Contains(e.tail, []byte(words)) {
		return true
	}
	e.tail = append(e.tail[:0], e.tail[max(0, len(e.tail)-len(words)+1):]...)
	return false
}
