package main

import (
	"runtime/debug"
	"testing"
)

func TestCollect_leaves_the_word_to_GOGC(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(77))
	t.Setenv("GOGC", "200")
	collect(operatorGarbage)
	if got := debug.SetGCPercent(77); got != 77 {
		t.Errorf("with GOGC set: %d%%", got)
	}
	t.Setenv("GOGC", "")
	collect(operatorGarbage)
	if got := debug.SetGCPercent(77); got != operatorGarbage {
		t.Errorf("without GOGC: %d%%", got)
	}
}
