package records

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

// offering is a store as [gathering] makes it, and the keys that it has woken.
func offering(c *cluster) (*ConfigMaps[int, int], chan machine.Key) {
	o, woken := gathering(c).options, make(chan machine.Key, 2000)
	o.Wake = func(key machine.Key) { woken <- key }
	return NewConfigMaps[int, int](o), woken
}

func TestConfigMaps_a_thousand_offered_notes_are_a_write_of_each_shard_and_hold_nobody_up(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.slow = 20 * time.Millisecond
		s, woken := offering(c)
		for n := range 1000 {
			loaded(t, s, keyOf(n))
		}
		began := time.Now()
		for n := range 1000 {
			if stored, err := s.OfferNote(t.Context(), keyOf(n), nil, fmt.Appendf(nil, "%d", n)); stored || err != nil {
				t.Fatal(stored, err)
			}
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("to offer them took %s", took)
		}
		seen := map[machine.Key]bool{}
		for range 1000 {
			key := <-woken
			if seen[key] {
				t.Errorf("%s is woken again", key)
			}
			seen[key] = true
		}
		for n := range 1000 {
			if got := noteIn(t, c, s, keyOf(n)); got != fmt.Sprint(n) || !seen[keyOf(n)] {
				t.Fatalf("of %d is stored %q", n, got)
			}
			if stored, err := s.OfferNote(t.Context(), keyOf(n), nil, fmt.Appendf(nil, "%d", n)); !stored || err != nil {
				t.Fatal("offered once more:", stored, err)
			}
		}
		if c.writes != 16 {
			t.Errorf("there are %d writes", c.writes)
		}
	})
}

func TestConfigMaps_an_offered_note_that_is_not_stored_is_told_once(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		s, woken := offering(c)
		loaded(t, s, keyOf(1))
		c.fails = errors.New("away")
		offer := func(note string) (bool, error) {
			return s.OfferNote(t.Context(), keyOf(1), nil, []byte(note))
		}
		if stored, err := offer("1"); stored || err != nil {
			t.Fatal(stored, err)
		}
		if stored, err := offer("1"); stored || err != nil {
			t.Fatal("while it is under way:", stored, err)
		}
		<-woken
		if stored, err := offer("1"); stored || !errors.Is(err, c.fails) {
			t.Fatal(stored, err)
		}
		c.fails = nil
		<-time.After(retryAfter)
		if stored, err := offer("1"); stored || err != nil {
			t.Fatal("told twice:", stored, err)
		}
		<-woken
		if stored, err := offer("1"); !stored || err != nil {
			t.Fatal(stored, err)
		}
		if stored, err := offer("2"); stored || !errors.Is(err, ErrNoteChanged) {
			t.Fatal("over one that was not seen:", stored, err)
		}
	})
}

func TestConfigMaps_who_offers_and_who_waits_are_written_together(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		o, woken := optionsOf(c, 1), make(chan machine.Key, 1)
		o.Clock, o.Gather, o.Wake = gathering(c).options.Clock, 50*time.Millisecond, func(key machine.Key) { woken <- key }
		s := NewConfigMaps[int, int](o)
		loaded(t, s, keyOf(1))
		waited := make(chan error)
		go func() { waited <- s.StoreNote(t.Context(), keyOf(1), nil, []byte("1")) }()
		synctest.Wait()
		if stored, err := s.OfferNote(t.Context(), keyOf(2), nil, []byte("2")); stored || err != nil {
			t.Fatal(stored, err)
		}
		if err, key := <-waited, <-woken; err != nil || key != keyOf(2) || c.writes != 1 {
			t.Errorf("%v, %s is woken after %d writes", err, key, c.writes)
		}
	})
}

func TestConfigMaps_a_panic_of_an_offered_write_is_an_error_of_its_note(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		o, woken := optionsOf(c, 1), make(chan machine.Key, 1)
		var told string
		o.Clock, o.Gather = gathering(c).options.Clock, 50*time.Millisecond
		o.Wake, o.Tell = func(key machine.Key) { woken <- key }, func(_ client.ObjectKey, what string) { told = what }
		o.Worth = func(json.RawMessage) bool { return true }
		s := NewConfigMaps[int, int](o)
		loaded(t, s, keyOf(1))
		s.options.Writer = nil // which panics
		if stored, err := s.OfferNote(t.Context(), keyOf(1), nil, []byte("1")); stored || err != nil {
			t.Fatal(stored, err)
		}
		<-woken
		if stored, err := s.OfferNote(t.Context(), keyOf(1), nil, []byte("1")); stored || !errors.Is(err, errUnfinished) {
			t.Error(stored, err)
		}
		if !strings.Contains(told, "panic") {
			t.Errorf("told is %q", told)
		}
	})
}
