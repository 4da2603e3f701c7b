package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestWithoutATerminalTheLiveLineIsWrittenNowAndThen(t *testing.T) {
	var out strings.Builder
	d := &display{out: &out, width: func() int { return 0 }, started: time.Now()}
	for i := range 100 {
		d.now(fmt.Sprintf("%d of 100", i))
	}
	d.step("done")
	if got, want := out.String(), "   0.0s  0 of 100\n   0.0s  done\n"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

func TestOnATerminalTheLiveLineIsRedrawnWithinTheWidthAndGivesWay(t *testing.T) {
	var out strings.Builder
	d := &display{out: &out, width: func() int { return 24 }, started: time.Now()}
	d.now("one of two objects")
	d.now("one of two objects")
	d.now("two")
	d.say("done")
	want := "\r   0.0s  one of two ob…\x1b[K" + "\r   0.0s  two\x1b[K" + "\r\x1b[K" + "done\n"
	if got := out.String(); got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

func TestCut(t *testing.T) {
	for text, want := range map[string]string{"": "", "short": "short", "exactly10!": "exactly10!", "eleven char": "eleven ch…", "zwölf Ärger!": "zwölf Ärg…"} {
		if got := cut(text, 10); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
