package flood_test

import (
	"bytes"
	"testing"

	"github.com/capstan-capi/capstan/phases/rewrite/flood"
)

func TestRun_makes_as_many_inputs_as_were_asked_for_of_seeds_and_words(t *testing.T) {
	t.Parallel()
	seed, word := []byte("seed"), []byte("word")
	source := flood.Source{Seeds: [][]byte{seed, {}}, Words: [][]byte{word, []byte("seed")}}
	var all, same, worded int
	flood.Run(t, source, 20_000, func(_ *testing.T, _ uint8, input []byte) {
		all++
		if bytes.Equal(input, seed) {
			same++
		}
		if bytes.Contains(input, word) {
			worded++
		}
	})
	if all != 20_000 || same == 0 || worded == 0 || same+worded >= all {
		t.Fatalf("of %d inputs %d are the seed, and %d have the word", all, same, worded)
	}
}

func TestRun_keeps_inputs_bounded_and_the_seeds_as_they_were(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("x"), 8<<10)
	kept := bytes.Clone(long)
	flood.Run(t, flood.Source{Seeds: [][]byte{long}, Words: [][]byte{[]byte("word")}}, 1000, func(t *testing.T, _ uint8, input []byte) {
		if !bytes.Equal(input, long) && len(input) > 4<<10 {
			t.Fatalf("%d bytes", len(input))
		}
	})
	if !bytes.Equal(long, kept) {
		t.Fatal("the seed was changed")
	}
}
