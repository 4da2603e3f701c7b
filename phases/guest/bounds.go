package guest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
)

const (
	// chunk is how much of an answer is read at once, in bytes. The first is free, so that a guest that answers as guests do waits for
	// nobody.
	chunk = 1 << 20
	// chunksMost is how many more chunks may be held of all answers together, and decodedMost how many answers are decoded at the same time:
	// what a hostile guest makes large takes several times as much memory when it is decoded.
	chunksMost  = 64
	decodedMost = 2
)

// bounds are what all guests together may take of memory.
type bounds struct{ chunks, decoders chan struct{} }

func newBounds() *bounds {
	return &bounds{chunks: make(chan struct{}, chunksMost), decoders: make(chan struct{}, decodedMost)}
}

// take waits for a place.
func take(ctx context.Context, of chan struct{}) error {
	select {
	case of <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// errLarge is an answer of more than bodyMost bytes.
var errLarge = errors.New("it is larger than allowed")

// read reads an answer as a whole, and calls done with it. Whoever waits for a place here gives up when its time is over.
func (b *bounds) read(ctx context.Context, from io.Reader, done func([]byte)) error {
	var body bytes.Buffer
	held := 0
	defer func() {
		for range held {
			<-b.chunks
		}
	}()
	for {
		n, err := io.CopyN(&body, from, chunk)
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case body.Len() > bodyMost:
			return errLarge
		case n < chunk:
			done(body.Bytes())
			return nil
		}
		if err := take(ctx, b.chunks); err != nil {
			return err
		}
		held++
	}
}

// decode has an answer decoded in its turn.
func (b *bounds) decode(ctx context.Context, body []byte, into any) error {
	if bytes.Count(body, []byte(",")) > elementsMost {
		return errMany
	}
	if err := take(ctx, b.decoders); err != nil {
		return err
	}
	defer func() { <-b.decoders }()
	return json.Unmarshal(body, into)
}

// errMany is an answer of more objects, or with more in them, than is allowed.
var errMany = errors.New("it has more in it than is allowed")

// listOf is a list of objects, whose number is bounded however its field is written, and how often.
type listOf[T any] struct {
	Items items[T] `json:"items"`
}

type items[T any] []T

// UnmarshalJSON reads objects one after the other, so that none is read beyond the bound.
func (i *items[T]) UnmarshalJSON(data []byte) error {
	*i = nil
	if bytes.Equal(data, []byte("null")) {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	if begin, err := decoder.Token(); err != nil || begin != json.Delim('[') {
		return errors.New("it is no list")
	}
	for decoder.More() {
		if len(*i) == itemsMost {
			return errMany
		}
		var one T
		if err := decoder.Decode(&one); err != nil {
			return err
		}
		*i = append(*i, one)
	}
	return nil
}
