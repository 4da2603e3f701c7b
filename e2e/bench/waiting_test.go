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
	at := func(seconds int64, idle time.Duration) lookAtWaiting {
		return lookAtWaiting{time.Unix(seconds, 0), idle}
	}
	looks := []lookAtWaiting{at(1, time.Second), at(2, time.Second), at(5, 3*time.Second), at(35, 30*time.Second)}
	for last, want := range map[time.Duration]time.Duration{
		0: 30 * time.Second, 30 * time.Second: 3 * time.Second, 31 * time.Second: time.Second, 34 * time.Second: time.Second, 35 * time.Second: 0,
	} {
		if got := before(looks, last); got != want {
			t.Errorf("without the last %s it has waited for %s, want %s", last, got, want)
		}
	}
	if got := before(nil, 0); got != 0 {
		t.Errorf("nobody has looked, and it has waited for %s", got)
	}
}
