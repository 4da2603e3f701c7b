package clusterapi

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestStrays_that_come_and_go_change_what_is_told_a_few_times_in_ten_minutes(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	var s toldStrays
	changes, before := 0, []string(nil)
	for i := range 599 { // one comes and goes every second
		var there []string
		if i%2 == 0 {
			there = []string{fmt.Sprintf("ConfigMap a/copy-%d", i)}
		}
		told, _, wait := s.tell(now, there, 0)
		if !slices.Equal(told, there) && wait <= 0 {
			t.Fatalf("after %d s something else is told, and nobody looks again", i)
		}
		if !slices.Equal(told, before) {
			changes, before = changes+1, told
		}
		now = now.Add(time.Second)
	}
	if most := strayBursts * int(strayBurst/time.Second+1); changes > most {
		t.Errorf("what is told changed %d times, at most %d expected", changes, most)
	}
	now = now.Add(strayWindow)
	if told, more, wait := s.tell(now, []string{"ConfigMap a/last"}, 3); len(told) != 1 || told[0] != "ConfigMap a/last" || more != 3 || wait != 0 {
		t.Errorf("in the end the last are told, got %v, %d, %s", told, more, wait)
	}
}

func TestStrays_that_turn_up_one_after_another_are_told_as_they_come(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	var s toldStrays
	var there []string
	for i := range 40 { // as of a restored backup
		there = append(there, fmt.Sprintf("ConfigMap a/copy-%d", i))
		if told, _, wait := s.tell(now.Add(time.Duration(i)*time.Second), there, 0); len(told) != i+1 || wait != 0 {
			t.Fatalf("%d of %d are told", len(told), i+1)
		}
	}
}
