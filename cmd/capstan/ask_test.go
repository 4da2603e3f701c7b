package main

import (
	"strings"
	"testing"
	"time"

	"github.com/capstan-capi/capstan/phases/acts"
)

func TestRequest_is_of_when_somebody_has_agreed_and_ends_as_it_was_shown(t *testing.T) {
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	r := &request{act: &acts.Act{Name: acts.Pause, By: "anna", At: noon, Until: noon.Add(time.Hour), Reason: "r"}}
	if err := r.answered(noon.Add(20 * time.Minute)); err != nil || !strings.HasPrefix(r.text, "by: anna\nat: 2026-01-31T12:20:00Z\nuntil: 2026-01-31T13:00:00Z\n") {
		t.Errorf("it is %q: %v", r.text, err)
	}
	if err := r.answered(noon.Add(time.Hour)); err == nil || !strings.Contains(err.Error(), "came before the answer") {
		t.Errorf("after its end the error is %v", err)
	}
	if err := (&request{}).answered(noon); err != nil {
		t.Errorf("of nothing that is asked for: %v", err)
	}
}
