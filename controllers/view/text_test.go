package view

import (
	"testing"
	"time"
)

func TestLasted_is_short_and_until_is_never_early(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", 61 * time.Second: "1m01s", time.Hour + 62*time.Second: "1h01m", 49 * time.Hour: "2d01h",
	} {
		if got := Lasted(d); got != want {
			t.Errorf("%s lasted %s, want %s", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		-time.Second: "due now", 0: "due now", 500 * time.Millisecond: "in 1s", time.Second: "in 1s", 108 * time.Second: "in 1m48s",
	} {
		if got := Until(d); got != want {
			t.Errorf("%s is %s, want %s", d, got, want)
		}
	}
}
