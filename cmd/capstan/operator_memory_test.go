package main

import (
	"runtime/debug"
	"testing"
)

func TestCollectOften_leaves_the_word_to_GOGC(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(77))
	t.Setenv("GOGC", "200")
	collectOften()
	if got := debug.SetGCPercent(77); got != 77 {
		t.Errorf("with GOGC set: %d%%", got)
	}
	t.Setenv("GOGC", "")
	collectOften()
	if got := debug.SetGCPercent(77); got != garbagePercent {
		t.Errorf("without GOGC: %d%%", got)
	}
}
