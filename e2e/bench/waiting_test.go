package main

import (
	"testing"
	"time"
)

func TestBusyIn_counts_what_was_computed_and_not_what_was_waited_for(t *testing.T) {
	got, err := busyIn([]byte("cpu  100 20 30 5000 700 4 6 0 0 0\ncpu0 1 1 1 1 1 1 1 0 0 0\n"))
	if err != nil || got != 1600*time.Millisecond {
		t.Errorf("it is %s, %v", got, err)
	}
	for _, spoilt := range []string{"", "intr 1 2 3 4 5 6 7 8\n", "cpu 1 2\n", "cpu  1 2 x 4 5 6 7 8\n"} {
		if _, err := busyIn([]byte(spoilt)); err == nil {
			t.Errorf("%q tells times", spoilt)
		}
	}
}

func TestIdle_is_what_not_even_one_core_has_used(t *testing.T) {
	for busy, want := range map[time.Duration]time.Duration{0: time.Second, time.Second / 4: 3 * time.Second / 4, 2 * time.Second: 0} {
		if got := idle(time.Second, busy); got != want {
			t.Errorf("of a second with %s of work %s are idle, want %s", busy, got, want)
		}
	}
}

func TestWallBesideWaiting_sets_only_what_is_computed_to_the_machine_of_reference(t *testing.T) {
	of := wallBesideWaiting(15)
	for name, row := range map[string]struct {
		one  result
		want float64
	}{
		"a machine twice as fast": {result{Seconds: 12, waited: 8, pace: pace{clock: 0.5}}, 16},
		"one of reference":        {result{Seconds: 12, waited: 8, pace: pace{clock: 1}}, 12},
		"nothing was waited for":  {result{Seconds: 12, pace: pace{clock: 2}}, 6},
	} {
		if got, known := of.value(row.one, nil); !known || got != row.want {
			t.Errorf("%s: it is %v, want %v", name, got, row.want)
		}
	}
}

func TestWaiting_leaves_out_the_last_part(t *testing.T) {
	at := func(seconds, idle time.Duration) lookAtWaiting {
		return lookAtWaiting{time.Unix(100, 0).Add(seconds * time.Second), idle * time.Second}
	}
	looks := []lookAtWaiting{at(1, 1), at(2, 1), at(5, 3), at(35, 30)}
	for last, want := range map[time.Duration]time.Duration{0: 30, 30: 3, 31: 1, 33: 1, 34: 1, 35: 0} {
		if got := before(looks, last*time.Second); got != want*time.Second {
			t.Errorf("without the last %d s it has waited for %s, want %d s", last, got, want)
		}
	}
	if got := before(nil, 0); got != 0 {
		t.Errorf("nobody has looked, and it has waited for %s", got)
	}
}
