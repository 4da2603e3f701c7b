package records

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/capstan-capi/capstan/machine"
)

func TestConfigMaps_records_may_be_late_and_go_along_with_notes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		s := gathering(c)
		if got := after(s.Save(t.Context(), keyOf(1), shotOf("Cloning", ""))); got != "in 5s" {
			t.Error(got)
		}
		<-time.After(2 * time.Second)
		storeNote(t, s, 1, "1")
		if got := loaded(t, gathering(c), keyOf(1)); got != "Cloning" || c.writes != 1 {
			t.Errorf("with a note there is %s, after %d writes", got, c.writes)
		}
		if got := after(s.Save(t.Context(), keyOf(1), shotOf("Settling", ""))); got != "in 5s" {
			t.Error(got)
		}
		<-time.After(4 * time.Second)
		if got := after(s.Save(t.Context(), keyOf(1), shotOf("Settling", "still"))); got != "in 1s" {
			t.Error(got)
		}
		<-time.After(time.Second)
		if got := after(s.Save(t.Context(), keyOf(1), shotOf("Settling", "still"))); got != "done" {
			t.Error(got)
		}
		if got := loaded(t, gathering(c), keyOf(1)) + " " + noteOf(t, gathering(c), 1); got != "Settling still 1" || c.writes != 2 {
			t.Errorf("in the end there is %s, after %d writes", got, c.writes)
		}
	})
}

func TestConfigMaps_what_looking_again_would_say_is_not_stored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		s := gathering(c)
		if got := after(s.Save(t.Context(), keyOf(1), shotOf("Current", ""))); got != "done" {
			t.Error(got)
		}
		if got := loaded(t, s, keyOf(1)) + ", " + loaded(t, gathering(c), keyOf(1)); got != "Current, none" || c.writes != 0 {
			t.Errorf("there is %s, after %d writes", got, c.writes)
		}
		for _, state := range []machine.State{"Cloning", "Current"} {
			for _, want := range []string{"in 5s", "done"} {
				if got := after(s.Save(t.Context(), keyOf(1), shotOf(state, ""))); got != want {
					t.Errorf("%s: %s", state, got)
				}
				<-time.After(5 * time.Second)
			}
		}
		left := &corev1.ConfigMapList{}
		if err := c.List(t.Context(), left); err != nil || len(left.Items) != 0 || c.writes != 1 {
			t.Errorf("%d are left, after %d writes (%v)", len(left.Items), c.writes, err)
		}
		if got := loaded(t, s, keyOf(1)); got != "Current" {
			t.Errorf("it is forgotten: %s", got)
		}
	})
}

func TestConfigMaps_a_note_outlives_UID_and_object_until_it_is_expired(t *testing.T) {
	c := newCluster(t)
	o := gathering(c).options
	o.Clock, o.Shards, o.Gather, o.Late = &minutes{}, 1, 0, 0
	s := NewConfigMaps[int, int](o)
	shot := shotOf("Cloning", "")
	shot.Record.UID = "a"
	pass(t, s, keyOf(1), shot)
	storeNote(t, s, 1, "1")
	shot.Record.UID, shot.Record.State = "b", "Waiting"
	pass(t, s, keyOf(1), shot)
	again := NewConfigMaps[int, int](o)
	if record, found, err := again.Load(t.Context(), keyOf(1)); err != nil || !found || record.UID != "b" || noteOf(t, again, 1) != "1" {
		t.Errorf("of the second is loaded %+v, with note %s (%v)", record, noteOf(t, again, 1), err)
	}
	if got := after(s.Forget(t.Context(), keyOf(1))); got != "done" {
		t.Error(got)
	}
	again = NewConfigMaps[int, int](o)
	if got := loaded(t, again, keyOf(1)) + " " + noteOf(t, again, 1); got != "none 1" {
		t.Errorf("of an object that is gone there is %s", got)
	}
	if keys, err := again.Keys(t.Context()); err != nil || !slices.Equal(keys, []machine.Key{keyOf(1)}) {
		t.Errorf("stored are %v (%v)", keys, err)
	}
	storeNote(t, s, 1, `"expired"`)
	writes := c.writes
	if got := noteOf(t, s, 1) + after(s.Forget(t.Context(), keyOf(1))); got != "done" || c.writes != writes {
		t.Errorf("expired: %s, after %d writes", got, c.writes-writes)
	}
	pass(t, s, keyOf(2), shotOf("Cloning", ""))
	if keys, err := NewConfigMaps[int, int](o).Keys(t.Context()); err != nil || !slices.Equal(keys, []machine.Key{keyOf(2)}) {
		t.Errorf("after the next write are stored %v (%v)", keys, err)
	}
}

func TestConfigMaps_a_note_is_written_over_the_one_that_was_seen_and_no_other(t *testing.T) {
	c := newCluster(t)
	one, other := inConfigMaps(c, 1), inConfigMaps(c, 1)
	storeNote(t, one, 1, " 1 ")
	if got := noteOf(t, other, 1); got != "1" {
		t.Fatal(got)
	}
	storeNote(t, one, 1, "2")
	pass(t, other, keyOf(2), shotOf("Ready", "")) // what the other has not seen is not overwritten
	if got := noteOf(t, inConfigMaps(c, 1), 1); got != "2" {
		t.Errorf("then there is %s", got)
	}
	for _, seen := range []string{"1", "", "null"} {
		if err := other.StoreNote(t.Context(), keyOf(1), []byte(seen), []byte("2")); !errors.Is(err, ErrNoteChanged) {
			t.Errorf("over %q: %v", seen, err)
		}
	}
	if err := other.StoreNote(t.Context(), keyOf(1), []byte(" 2"), []byte("2")); err != nil {
		t.Error(err)
	}
	storeNote(t, one, 1, "3")
	if err := other.StoreNote(t.Context(), keyOf(1), []byte("2"), []byte("3")); !errors.Is(err, ErrNoteChanged) {
		t.Errorf("both count 3: %v", err)
	}
	if got := noteOf(t, other, 1); got != "3" {
		t.Errorf("the other sees %s", got)
	}
	for _, bad := range []string{"{", `"` + strings.Repeat("x", maxEntry/3) + `"`} {
		if err := one.StoreNote(t.Context(), keyOf(1), []byte("3"), []byte(bad)); err == nil {
			t.Errorf("stored is %.10s", bad)
		}
	}
	writes := c.writes
	storeNote(t, one, 1, "3")
	if c.writes != writes {
		t.Error("it is written twice")
	}
	storeNote(t, one, 1, "null")
	if keys, err := inConfigMaps(c, 1).Keys(t.Context()); err != nil || len(keys) != 1 {
		t.Errorf("left are %v (%v)", keys, err)
	}
}

func TestConfigMaps_who_writes_for_others_tells_them_what_came_of_it(t *testing.T) {
	for name, row := range map[string]struct {
		ctx   time.Duration // of who writes
		harm  func(c *cluster, b *brittle)
		wants string
	}{
		"an error":    {time.Hour, func(c *cluster, _ *brittle) { c.fails = errors.New("away") }, "writing ConfigMap ops/capstan-tides-0: away"},
		"a panic":     {time.Hour, func(_ *cluster, b *brittle) { b.mended = false }, errUnfinished.Error()},
		"no patience": {time.Millisecond, func(*cluster, *brittle) {}, context.DeadlineExceeded.Error()},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t)
			breaks := &brittle{Writer: c, mended: true}
			o := gathering(c).options
			o.Shards, o.Writer = 1, breaks
			s := NewConfigMaps[int, int](o)
			storeNote(t, s, 0, "0")
			row.harm(c, breaks)
			var all sync.WaitGroup
			errs := make([]error, 3)
			for n := range errs {
				all.Go(func() {
					defer func() {
						if value := recover(); value != nil {
							errs[n] = errUnfinished
						}
					}()
					ctx, cancel := context.WithTimeout(t.Context(), row.ctx+time.Duration(n)*time.Hour)
					defer cancel()
					errs[n] = s.StoreNote(ctx, keyOf(n+1), nil, []byte("1"))
				})
				synctest.Wait()
			}
			if err := s.StoreNote(t.Context(), keyOf(1), nil, []byte("2")); !errors.Is(err, errNoteUnderWay) {
				t.Errorf("%s: two notes of one: %v", name, err)
			}
			all.Wait()
			for n, err := range errs {
				if err == nil || !strings.HasSuffix(err.Error(), row.wants) {
					t.Errorf("%s: of %d: %v", name, n, err)
				}
			}
			c.fails, breaks.mended = nil, true
			<-time.After(time.Second)
			storeNote(t, s, 1, "1")
			if got := noteOf(t, NewConfigMaps[int, int](o), 1) + noteOf(t, NewConfigMaps[int, int](o), 2); got != "1" {
				t.Errorf("%s: then there is %s", name, got)
			}
		})
	}
}

func TestConfigMaps_who_waits_for_others_may_lose_patience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		s := gathering(c)
		var first sync.WaitGroup
		first.Go(func() { storeNote(t, s, 1, "1") })
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		same := keyOf(1)
		for n := 2; same == keyOf(1) || s.nameOf(same) != s.nameOf(keyOf(1)); n++ {
			same = keyOf(n)
		}
		if err := s.StoreNote(ctx, same, nil, []byte("2")); !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
		first.Wait()
	})
}

func TestConfigMaps_an_entry_is_bounded_and_memory_has_it_whole(t *testing.T) {
	c := newCluster(t)
	o := gathering(c).options
	o.Clock, o.Shards, o.Gather, o.Late = &minutes{}, 1, 0, 0
	long := strings.Repeat(`<long> "text" `, 40)
	shot := shotOf("Cloning", long)
	shot.Record.Cause, shot.Record.Entry.Inputs = long, "0123456789abcdef"
	shot.Record.Failure = &machine.Failure{Message: long, Since: noon}
	for i := range 9 {
		shot.Record.Transitions = append(shot.Record.Transitions, machine.Transition{From: "A", To: "B", At: noon.Add(time.Duration(i)), Cause: "short"})
	}
	s := NewConfigMaps[int, int](o)
	pass(t, s, keyOf(1), shot)
	storeNote(t, s, 1, `"`+strings.Repeat("x", 300)+`"`)
	writes := c.writes
	for range 3 {
		record, found, err := s.Load(t.Context(), keyOf(1))
		if err != nil || !found || record.Reason != long || record.Failure.Message != long || len(record.Transitions) != 4 || record.Transitions[3].At != noon.Add(8) {
			t.Errorf("held is %+v (%v)", record, err)
		}
		pass(t, s, keyOf(1), machine.Snapshot[int, int]{Record: record})
	}
	if c.writes != writes {
		t.Errorf("it is written %d times more", c.writes-writes)
	}
	stored := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), only, stored); err != nil {
		t.Fatal(err)
	}
	e := unpack(stored.BinaryData[contentKey], func(machine.Key) bool { return true }, maxEntry).all[keyOf(1)]
	record, found := Decoded(e.Record)
	if !found || record.Entry.Inputs != "0123456789abcdef" || record.State != "Cloning" || len(record.Transitions) > 4 || e.size()+overhead > 1<<10 || len(e.Note) != 302 {
		t.Errorf("stored is %s", e.Record)
	}
	again := NewConfigMaps[int, int](o)
	pass(t, again, keyOf(1), machine.Snapshot[int, int]{Record: record})
	if c.writes != writes {
		t.Error("what is stored is written again after a restart")
	}
	shot.Record.Entry.Inputs = strings.Repeat("x", 1000)
	if got := after(s.Save(t.Context(), keyOf(1), shot)); !strings.Contains(got, "is the most") {
		t.Errorf("inputs that have no room: %s", got)
	}
}

func TestConfigMaps_a_forged_record_gives_way_to_a_note(t *testing.T) {
	c := newCluster(t)
	o := optionsOf(c, 1)
	pass(t, NewConfigMaps[int, int](o), keyOf(2), shotOf("Ready", ""))
	edit(t, c, gzipped(t, `{"ns/1":{"record":{"state":"Ready","entry":{"inputs":"`+strings.Repeat("x", 2000)+`"}}}}`))
	o.Entry = 1 << 10
	s := NewConfigMaps[int, int](o)
	storeNote(t, s, 1, "1")
	if got := loaded(t, NewConfigMaps[int, int](o), keyOf(1)); got != "none" || !bytes.Equal([]byte(noteOf(t, s, 1)), []byte("1")) {
		t.Errorf("there is %s", got)
	}
}
