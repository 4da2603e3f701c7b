package bootimage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
)

// counter is a target whose attempts are counted by a clock of the test.
type counter struct {
	now   time.Time
	pass  *Pass
	notes int
}

func newCounter() *counter {
	c := &counter{now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}
	p := &Phases{Now: func() time.Time { return c.now }, Board: bootboard.New()}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "u"}}
	c.pass = &Pass{Phases: p, UID: "u", Target: &Target{Object: object, Name: "a"}}
	return c
}

// attempt counts one at an image, and stores it.
func (c *counter) attempt(t interface{ Fatal(...any) }, wanted string) {
	note, err := json.Marshal(c.pass.counted(wanted))
	if err != nil {
		t.Fatal(err)
	}
	c.notes++
	c.pass.seen, c.pass.attempts = note, decodedAttempts(note)
	c.pass.memory.stand(hashed(c.pass.UID), false)
}

// stands has the target seen with the wanted image.
func (c *counter) stands() { c.pass.memory.stand(hashed(c.pass.UID), true) }

func (c *counter) asks(value string) {
	c.pass.Target.Object.SetAnnotations(map[string]string{guards.RetryAnnotation: value})
}

func TestAttempts_are_forgotten_for_what_clears_them_and_for_nothing_else(t *testing.T) {
	for name, row := range map[string]struct {
		does   func(*counter)
		wanted string
		want   int
	}{
		"an hour later":                     {func(c *counter) { c.now = c.now.Add(time.Hour) }, "a", 3},
		"a day after, if the image stood":   {func(c *counter) { c.stands(); c.now = c.now.Add(25 * time.Hour) }, "a", 0},
		"a day after, if it did not":        {func(c *counter) { c.now = c.now.Add(25 * time.Hour) }, "a", 3},
		"by a clock that was set back":      {func(c *counter) { c.stands(); c.now = c.now.Add(-25 * time.Hour) }, "a", 3},
		"for another wanted image":          {func(*counter) {}, "b", 0},
		"by a value of retry":               {func(c *counter) { c.asks("1") }, "a", 0},
		"by a value that was heard":         {func(c *counter) { c.asks("1"); c.attempt(panics{}, "a"); c.attempt(panics{}, "a") }, "a", 2},
		"by one that was heard, taken away": {func(c *counter) { c.asks("1"); c.attempt(panics{}, "a"); c.asks(""); c.asks("1") }, "a", 1},
		"by one that was heard before another": {func(c *counter) {
			c.asks("1")
			c.attempt(panics{}, "a")
			c.asks("2")
			c.attempt(panics{}, "a")
			c.asks("1")
		}, "a", 1},
		"for an object that was made anew":   {func(c *counter) { c.pass.UID = "v" }, "a", 3},
		"for one made anew, that never does": {func(c *counter) { c.pass.UID = "v"; c.now = c.now.Add(25 * time.Hour) }, "a", 3},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCounter()
			for range 3 {
				c.attempt(t, "a")
			}
			row.does(c)
			if got := c.pass.made(row.wanted); got != row.want {
				t.Errorf("%d attempts count, want %d", got, row.want)
			}
		})
	}
}

func TestHeard_sixteen_values_count_and_none_twice(t *testing.T) {
	c := newCounter()
	c.attempt(t, "a")
	for value := range maxHeard {
		c.asks(fmt.Sprint(value))
		if got := c.pass.tells("a"); got.Made != 0 || got.RetriesUsed {
			t.Fatalf("value %d is not heard: %+v", value, got)
		}
		c.attempt(t, "a")
		for before := range value + 1 {
			if c.asks(fmt.Sprint(before)); c.pass.made("a") != 1 {
				t.Fatalf("after value %d, value %d is heard again", value, before)
			}
		}
	}
	for value := range 3 * maxHeard {
		if c.asks(fmt.Sprint(value)); c.pass.made("a") == 0 {
			t.Fatalf("after %d values, value %d is heard", maxHeard, value)
		}
	}
	if !c.pass.tells("a").RetriesUsed {
		t.Error("nobody is told that no other value is heard")
	}
	if c.attempt(t, "b"); c.pass.made("b") != 1 {
		t.Error("attempts at another image are counted from the first")
	}
	if c.pass.seen, c.pass.attempts = nil, (attempts{}); c.pass.tells("a").RetriesUsed {
		t.Error("what is forgotten counts on")
	}
}

type panics struct{}

func (panics) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// noted keeps the note of one target.
type noted struct{ note json.RawMessage }

func (n *noted) Note(context.Context, machine.Key) (json.RawMessage, error) { return n.note, nil }

func (n *noted) StoreNote(_ context.Context, _ machine.Key, _, note json.RawMessage) error {
	n.note = note
	return nil
}

// offered is a note that is stored by whoever sets stored, and what is offered meanwhile.
type offered struct {
	noted
	stored bool
	lost   bool // it has what it says from memory
	fails  error
	offers []string
}

func (o *offered) OfferNote(_ context.Context, _ machine.Key, _, note json.RawMessage) (bool, error) {
	o.offers = append(o.offers, string(note))
	if o.stored && o.fails == nil {
		o.note, o.lost = note, false
	}
	return o.stored && o.fails == nil, o.fails
}

func (o *offered) StoreNote(ctx context.Context, key machine.Key, seen, note json.RawMessage) error {
	o.lost = false
	return o.noted.StoreNote(ctx, key, seen, note)
}

func (o *offered) HoldsNote(machine.Key, json.RawMessage) bool { return !o.lost }

func (n *noted) HoldsNote(machine.Key, json.RawMessage) bool { return true }

func (n *noted) OfferNote(context.Context, machine.Key, json.RawMessage, json.RawMessage) (bool, error) {
	return false, nil
}

func TestOffer_offers_one_note_for_a_plan_until_it_is_stored(t *testing.T) {
	c, kept := newCounter(), &offered{}
	c.pass.Notes = kept
	c.pass.Judged.Wanted = "a"
	c.pass.makePlan()
	offers := func(want bool, err error) {
		t.Helper()
		if stored, got := c.pass.offer(t.Context()); stored != want || !errors.Is(got, err) {
			t.Fatalf("stored %v, %v", stored, got)
		}
		c.now = c.now.Add(time.Second)
	}
	offers(false, nil)
	offers(false, nil)
	kept.stored = true
	offers(true, nil)
	if kept.offers[0] != kept.offers[1] || kept.offers[1] != kept.offers[2] || c.pass.attempts.Made != 1 {
		t.Errorf("offered is %q, and %d attempts count", kept.offers, c.pass.attempts.Made)
	}
	if offers(true, nil); len(kept.offers) != 3 {
		t.Errorf("offered is %q", kept.offers)
	}
}

func TestOffer_fails_until_the_note_is_stored_however_often_that_is_tried(t *testing.T) {
	c, kept := newCounter(), &offered{fails: errors.New("away")}
	c.pass.Notes = kept
	c.pass.Judged.Wanted = "a"
	c.pass.makePlan()
	away := kept.fails
	for _, tells := range []error{away, nil, away, nil} { // a store tells of each write once
		kept.fails = tells
		if stored, err := c.pass.offer(t.Context()); stored || !errors.Is(err, away) {
			t.Fatal(stored, err)
		}
	}
	kept.stored = true
	if stored, err := c.pass.offer(t.Context()); !stored || err != nil {
		t.Fatal(stored, err)
	}
}

func TestOffer_takes_what_is_found_stored_for_its_own(t *testing.T) {
	c, kept := newCounter(), &offered{fails: errors.New("the answer is lost")}
	c.pass.Notes = kept
	c.pass.Judged.Wanted = "a"
	c.pass.makePlan()
	kept.fails = nil
	if stored, err := c.pass.offer(t.Context()); stored || err != nil {
		t.Fatal(stored, err)
	}
	c.pass.seen, kept.lost = c.pass.plan.Offered, true
	if c.pass.storedByNow(); c.pass.plan.Counted {
		t.Error("it is counted while what was stored is lost")
	}
	kept.lost = false
	if c.pass.storedByNow(); !c.pass.plan.Counted {
		t.Error("it is not counted")
	}
}

// Its note was stored, and the ConfigMap is lost before anybody has seen that: at the last attempt, counting it twice would end all.
func TestOffer_counts_once_and_stores_again_an_attempt_that_only_memory_has(t *testing.T) {
	for name, does := range map[string]func(*counter, *offered) error{
		"offered again": func(c *counter, _ *offered) error { _, err := c.pass.offer(t.Context()); return err },
		"and not at once": func(c *counter, kept *offered) error {
			kept.fails = errors.New("away")
			if stored, err := c.pass.offer(t.Context()); stored || err == nil {
				return fmt.Errorf("stored is %v (%w)", stored, err)
			}
			kept.fails = nil
			_, err := c.pass.offer(t.Context())
			return err
		},
		"planned again": func(c *counter, _ *offered) error {
			if c.pass.makePlan(); c.pass.plan.Counted {
				return errors.New("it counts while only memory has it")
			}
			_, err := c.pass.offer(t.Context())
			return err
		},
		"counted for a stub": func(c *counter, _ *offered) error { return c.pass.count(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			c, kept := newCounter(), &offered{}
			c.pass.Notes, c.pass.Judged.Wanted = kept, "a"
			for range guards.MaxAttempts - 1 {
				c.attempt(t, "a")
			}
			c.pass.makePlan()
			if stored, err := c.pass.offer(t.Context()); stored || err != nil {
				t.Fatal(stored, err)
			}
			c.now = c.now.Add(time.Second)
			c.pass.seen, c.pass.attempts = c.pass.plan.Offered, decodedAttempts(c.pass.plan.Offered)
			kept.lost, kept.stored = true, true
			c.pass.storedByNow()
			if told := c.pass.tells("a"); told.Own || told.Made != guards.MaxAttempts-1 {
				t.Errorf("while only memory has it, told is %+v", told)
			}
			if err := does(c, kept); err != nil {
				t.Fatal(err)
			}
			if told := c.pass.tells("a"); !told.Own || told.Made != guards.MaxAttempts || kept.lost || decodedAttempts(kept.note).Made != guards.MaxAttempts {
				t.Errorf("then told is %+v, and stored is %s", told, kept.note)
			}
		})
	}
}

func TestMakePlan_counts_no_attempt_twice_of_which_nothing_was_sent(t *testing.T) {
	for name, row := range map[string]struct {
		does func(*counter)
		same bool
	}{
		"nothing was sent":           {func(*counter) {}, true},
		"another image is wanted":    {func(c *counter) { c.pass.Judged.Wanted = "b" }, false},
		"another object":             {func(c *counter) { c.pass.UID = "v" }, false},
		"something was sent":         {func(c *counter) { c.pass.sends() }, false},
		"the attempts are forgotten": {func(c *counter) { c.pass.seen, c.pass.attempts = nil, attempts{} }, false},
		"somebody has counted on":    {func(c *counter) { c.attempt(t, "a") }, false},
		"somebody asks for more":     {func(c *counter) { c.asks("1") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCounter()
			c.pass.Notes = &offered{stored: true}
			c.pass.Judged.Wanted = "a"
			c.pass.makePlan()
			if _, err := c.pass.offer(t.Context()); err != nil {
				t.Fatal(err)
			}
			row.does(c)
			if c.pass.makePlan(); c.pass.plan.Counted != row.same {
				t.Errorf("that it counts is %v", c.pass.plan.Counted)
			}
		})
	}
}

func TestOffer_counts_on_from_what_another_operator_has_stored(t *testing.T) {
	c, kept := newCounter(), &offered{}
	c.pass.Notes = kept
	c.pass.Judged.Wanted = "a"
	c.pass.makePlan()
	offer := func() {
		t.Helper()
		if stored, err := c.pass.offer(t.Context()); stored || err != nil {
			t.Fatal(stored, err)
		}
	}
	offer()
	c.attempt(t, "a")
	c.attempt(t, "a")
	offer()
	if made := decodedAttempts([]byte(kept.offers[1])).Made; made != 3 {
		t.Errorf("attempt %d is offered", made)
	}
}

// Somebody changes an image back once a month: each time it is given anew, and no hot loop.
func TestStood_lets_attempts_go_at_an_image_that_stood_for_a_day(t *testing.T) {
	c := newCounter()
	kept := &noted{}
	c.pass.Notes = kept
	for month := range 5 {
		c.attempt(t, "a")
		kept.note = c.pass.seen
		if got := c.pass.made("a"); got != 1 {
			t.Fatalf("in month %d %d attempts count", month, got)
		}
		for _, is := range []machine.Truth{machine.Yes, machine.Unknown, machine.No} {
			if is == machine.No {
				c.now = c.now.Add(30 * 24 * time.Hour)
			}
			c.pass.stood(is)
		}
		c.pass.seen, c.pass.attempts = kept.note, decodedAttempts(kept.note)
	}
}

func TestCountStub_counts_a_version_of_a_Secret_once_however_often_its_write_is_tried(t *testing.T) {
	c, read := newCounter(), &stubRead{}
	c.pass.Notes, c.pass.shared.key = &noted{}, "secrets/a/b"
	tries := func(version string, want int) {
		t.Helper()
		for range 4 {
			if err := c.pass.countStub(t.Context(), read, version); err != nil {
				t.Fatal(err)
			}
		}
		if got := c.pass.shared.attempts.Made; got != want {
			t.Errorf("of version %s %d attempts count, want %d", version, got, want)
		}
	}
	tries("1", 1)
	tries("2", 2)
	c.asks("again")
	tries("2", 1)
}

func TestWorth_keeps_a_note_as_long_as_it_counts(t *testing.T) {
	c := newCounter()
	for name, note := range map[string]string{"nothing": "", "rubbish": "{", "no attempt": `{"n":0}`, "fewer than none": `{"n":-3}`} {
		if c.pass.Worth(json.RawMessage(note)) {
			t.Errorf("%s is worth keeping", name)
		}
	}
	c.attempt(t, "a")
	c.now = c.now.Add(25 * time.Hour)
	if !c.pass.Worth(c.pass.seen) {
		t.Error("one that did not stand is let go")
	}
	c.stands()
	if c.pass.Worth(c.pass.seen) {
		t.Error("one that stood for a day is kept")
	}
}

// A note has room for a third of an entry, whatever its target is called and wants.
func TestAttempts_take_little_room(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCounter()
		c.pass.UID = rapid.String().Draw(t, "uid")
		wanted := rapid.String().Draw(t, "wanted")
		for range rapid.IntRange(1, 2*maxHeard).Draw(t, "attempts") {
			c.asks(rapid.String().Draw(t, "retry"))
			c.attempt(t, wanted)
		}
		c.pass.attempts.Upgraded = true
		note, err := json.Marshal(c.pass.attempts)
		if err != nil || len(note) > 1024/3 {
			t.Errorf("it takes %d bytes: %s, %v", len(note), note, err)
		}
	})
}
