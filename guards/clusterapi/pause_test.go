package clusterapi

import (
	"strings"
	"testing"
	"time"
)

func TestAct_that_has_ended_says_by_what(t *testing.T) {
	for why, want := range map[string]string{
		"it ended at 2026-01-31 13:00:00Z":              "r (ended at 2026-01-31 13:00:00Z)",
		"it ended when the list of images changed":      "r (ended when the list of images changed)",
		"it has ended before, and does not begin again": "r (ended: it has ended before, and does not begin again)",
		"": "r (ended)",
	} {
		act := Act{Name: "pause", By: "anna", At: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), Reason: "r", Ended: true, Void: why}
		if got := act.String(); !strings.HasSuffix(got, want) {
			t.Errorf("told is %q, want %q at its end", got, want)
		}
	}
}
