package flood

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

const (
	// longest is the most bytes of an input.
	longest = 4 << 10
	// mostChanges is how often a seed is changed at most.
	mostChanges = 4
	// told is after how many inputs the test says how far it is.
	told = 1_000_000
)

// Source is what inputs are made of.
type Source struct {
	// Seeds are changed, and never empty; Words are put into them, in place of each other or anywhere.
	Seeds, Words [][]byte
}

// Run calls check with so many inputs, each with a number of any value. An input is the check's only until it returns.
func Run(t *testing.T, source Source, inputs int, check func(t *testing.T, which uint8, input []byte)) {
	t.Helper()
	random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	var input []byte
	defer func() {
		if reason := recover(); reason != nil {
			t.Errorf("%q: %v", input, reason)
			panic(reason)
		}
	}()
	for n := range inputs {
		input = source.input(random, input[:0])
		check(t, uint8(random.Uint32()), input)
		if (n+1)%told == 0 {
			t.Logf("%d inputs", n+1)
		}
	}
}

// input is one of the seeds, changed. It may use the room of what it is given, which is empty.
func (s Source) input(random *rand.Rand, text []byte) []byte {
	text = append(text, pick(random, s.Seeds)...)
	for range random.IntN(mostChanges + 1) {
		text = s.change(random, text)
		if len(text) > longest {
			text = text[:longest]
		}
	}
	return text
}

// change makes one change. What comes out may share no memory with what went in, or all.
func (s Source) change(random *rand.Rand, text []byte) []byte {
	from := random.IntN(len(text) + 1)
	to := from + random.IntN(min(len(text)-from, 32)+1)
	switch random.IntN(6) {
	case 0: // a word more
		return splice(text, from, from, pick(random, s.Words))
	case 1: // a word in place of another
		if word := pick(random, s.Words); len(word) > 0 {
			if at := bytes.Index(text, word); at >= 0 {
				return splice(text, at, at+len(word), pick(random, s.Words))
			}
		}
		return text
	case 2: // a piece less
		return splice(text, from, to, nil)
	case 3: // a piece twice
		return splice(text, to, to, text[from:to])
	case 4: // another byte
		if from < len(text) {
			text[from] = byte(random.Uint32())
		}
		return text
	default: // the end of another seed
		other := pick(random, s.Seeds)
		return append(text[:from], other[random.IntN(len(other)+1):]...)
	}
}

// splice puts a piece in the place of what lies between two offsets.
func splice(text []byte, from, to int, piece []byte) []byte {
	changed := make([]byte, 0, len(text)-(to-from)+len(piece))
	changed = append(changed, text[:from]...)
	changed = append(changed, piece...)
	return append(changed, text[to:]...)
}

func pick(random *rand.Rand, from [][]byte) []byte { return from[random.IntN(len(from))] }
