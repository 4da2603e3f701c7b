package guest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/capstan-capi/capstan/machine"
)

const (
	// answerMost is how much of an answer is read, in bytes: a page of Nodes, with the images that each has, takes some 1 MiB. Whoever is being
	// asked waits for nobody else's answer to be read: as many of these as guests are asked at once fit into memory.
	answerMost = 4 << 20
	// elementsMost is how many elements of lists and fields an answer may have: whoever administers a guest says what it answers, and an
	// empty element takes some hundred times as much memory as its text.
	elementsMost = 600_000
	// decodedMost is how many answers are decoded at the same time: what a hostile guest makes large takes several times as much memory then.
	decodedMost = 2

	// textMost is how much is kept of a text that a guest gives, in bytes: names have 253, IDs that providers give 512 at most. One that is longer
	// is cut, and so is none of those that are looked for.
	textMost = 512
	// wordsMost is how much is kept of what it says to people, and messageMost how much of that is looked through.
	wordsMost, messageMost = 200, 4 << 10
	// addressesMost is how many addresses are kept of a Node, and membersMost how many of etcd.
	addressesMost, membersMost = 16, 32
)

// bounds are what all guests together may take of memory.
type bounds struct{ decoders chan struct{} }

func newBounds() *bounds { return &bounds{decoders: make(chan struct{}, decodedMost)} }

// take waits for a place.
func take(ctx context.Context, of chan struct{}) error {
	select {
	case of <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// errLarge is an answer of more than answerMost bytes.
var errLarge = errors.New("it is larger than allowed")

// read reads an answer as a whole.
func read(from io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(from, answerMost+1))
	switch {
	case err != nil:
		return nil, err
	case len(body) > answerMost:
		return nil, errLarge
	}
	return body, nil
}

// text is what is kept of a text of a guest. It is a copy: a part of a text keeps all of it in memory.
func text(of string) string {
	return strings.Clone(strings.ToValidUTF8(of[:min(len(of), textMost)], ""))
}

// words are what is kept of what a guest says to people.
func words(of string) string {
	return strings.Clone(machine.Shorten(of[:min(len(of), messageMost)], wordsMost))
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
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
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
		if len(*i) == pageMost {
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
