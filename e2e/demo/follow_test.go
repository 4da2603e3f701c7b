package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/capstan-capi/capstan/e2e/harness"
)

func moves(from, to int) []harness.Transition {
	var all []harness.Transition
	for i := from; i < to; i++ {
		all = append(all, harness.Transition{Event: "E", At: time.Unix(int64(i), 0).UTC()})
	}
	return all
}

func TestAFollowerKeepsEveryTransitionOfARecordThatForgets(t *testing.T) {
	f := &follower{display: &display{out: &strings.Builder{}, width: func() int { return 0 }}}
	for _, seen := range [][]harness.Transition{nil, moves(0, 2), moves(0, 2), moves(1, 5), moves(3, 6), moves(8, 10), nil, moves(8, 11)} {
		f.path = append(f.path, f.news(seen)...)
	}
	if want := append(moves(0, 6), moves(8, 11)...); !slices.Equal(f.path, want) {
		t.Errorf("kept %v, want %v", f.path, want)
	}
}

func TestPathOf(t *testing.T) {
	path := []transition{{From: "A", To: "B"}, {From: "B", To: "A"}}
	if got := pathOf(path); got != "A -> B -> A" {
		t.Errorf("got %q", got)
	}
}
