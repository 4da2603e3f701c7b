package protobuf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Hold asks for room for so many bytes. It gives what ends the use of it, or why there is none.
type Hold func(bytes int) (release func(), err error)

// WatchFrames translates a stream of watch frames from r to w, each written at once as a whole, until r ends. A stream that ends
// within a frame is a MalformedError; what r fails with, and what hold refuses, is passed on. The buffers grow to twice the largest frame, and
// hold is asked for as much while a frame is in work.
func WatchFrames(w io.Writer, r io.Reader, texts *Texts, hold Hold) error {
	var in, out []byte
	for {
		var head [4]byte
		read, err := readFull(r, head[:])
		if err != nil {
			return fmt.Errorf("reading the length of a watch frame: %w", err)
		}
		if read == 0 {
			return nil
		}
		if read < len(head) {
			return cutOff()
		}
		length := binary.BigEndian.Uint32(head[:])
		if length > maxFrame {
			return malformed("a watch frame has %d bytes, and %d are allowed", length, maxFrame)
		}
		if err := frame(w, r, texts, hold, int(length), &in, &out); err != nil {
			return err
		}
		if cap(in) > keptBuffer {
			in, out = nil, nil
		}
	}
}

// What an object of etcd can be is far less than the one; the other is what an idle watch keeps.
const (
	maxFrame   = 16 << 20
	keptBuffer = 16 << 10
)

func frame(w io.Writer, r io.Reader, texts *Texts, hold Hold, length int, in, out *[]byte) error {
	release, err := hold(2 * length)
	if err != nil {
		return err
	}
	defer release()
	if cap(*in) < length {
		*in = make([]byte, length)
	}
	*in = (*in)[:length]
	read, err := readFull(r, *in)
	if err != nil {
		return fmt.Errorf("reading a watch frame: %w", err)
	}
	if read < length {
		return cutOff()
	}
	*out = append((*out)[:0], 0, 0, 0, 0)
	if *out, err = Event(*out, *in, texts); err != nil {
		return err
	}
	binary.BigEndian.PutUint32(*out, uint32(len(*out)-4)) //nolint:gosec // what is translated grows by some bytes a group
	_, err = w.Write(*out)
	return err
}

func cutOff() error { return malformed("a stream of watch frames ends within one") }

// readFull fills b, or reads to the end of r. Unlike io.ReadFull it keeps an end apart from a failure of r that is called an unexpected end.
func readFull(r io.Reader, b []byte) (read int, err error) {
	for read < len(b) && err == nil {
		var n int
		n, err = r.Read(b[read:])
		read += n
	}
	if errors.Is(err, io.EOF) || read == len(b) {
		err = nil
	}
	return read, err
}
