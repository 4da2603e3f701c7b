package history

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func keeper(t *testing.T, c client.Client) *Keeper {
	t.Helper()
	return New(c, c, "ns", func() {}, clocktesting.NewFakeClock(noon), logr.Discard())
}

func loaded(t *testing.T, c client.Client) *Keeper {
	t.Helper()
	k := keeper(t, c)
	if err := k.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return k
}

func revision(number int64) Revision {
	return Revision{
		Number: number, Name: fmt.Sprintf("4.22.0-c-%d", number), Listed: noon, Result: Applying,
		Components: []Component{{Name: "core", Image: fmt.Sprintf("core-%d", number)}},
	}
}

// look is what a look shows when these are listed, and one of them is current.
func look(at time.Time, current int64, numbers ...int64) Seen {
	s := Seen{At: at, Current: current, Numbers: numbers}
	for _, number := range numbers {
		r := revision(number)
		r.Listed = time.Time{}
		s.Listed, s.Highest = append(s.Listed, r), max(s.Highest, number)
	}
	return s
}

func TestKeeper_tells_what_became_of_revisions(t *testing.T) {
	k := loaded(t, fake.NewFakeClient())
	later := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	k.List(revision(1))
	k.Count("4.22.0-c-1", "Created")
	k.See(look(later(1), 0, 1))
	k.See(look(later(2), 1, 1))
	k.List(revision(2))
	k.See(look(later(3), 1, 1, 2))
	k.List(revision(3))
	k.See(look(later(4), 1, 1, 2, 3))
	k.See(look(later(5), 3, 1, 2, 3))
	k.See(look(later(6), 3, 3))
	h, _ := k.Known()
	var got []string
	for _, r := range h.Revisions {
		got = append(got, fmt.Sprintf("%d %s %v %v %v", r.Number, r.Result, r.Applied.After(noon), r.Ended.After(noon), r.Counts))
	}
	want := "1 Installed true true map[Created:1]|2 Superseded false true map[]|3 Installed true false map[]"
	if strings.Join(got, "|") != want || h.Lost {
		t.Errorf("it remembers %s, lost %v, want %s", strings.Join(got, "|"), h.Lost, want)
	}
	if before := h.Before(3); before == nil || before.Number != 1 {
		t.Errorf("before 3 comes %v", before)
	}
}

func TestBefore_is_no_uninstallation(t *testing.T) {
	with := func(number int64, images ...string) Revision {
		r := Revision{Number: number, Result: Installed}
		for _, image := range images {
			r.Components = append(r.Components, Component{Name: image, Image: image})
		}
		return r
	}
	h := History{Revisions: []Revision{with(1, "one"), with(2), with(3, "three")}}
	if before := h.Before(3); before == nil || before.Number != 1 {
		t.Errorf("before 3 comes %v", before)
	}
}

func TestKeeper_enters_again_what_is_listed_and_says_that_something_was_lost(t *testing.T) {
	k := loaded(t, fake.NewFakeClient())
	k.See(look(noon, 7, 7, 8))
	h, _ := k.Known()
	if len(h.Revisions) != 2 || !h.Lost || h.Of(7).Result != Installed || !h.Of(7).Applied.IsZero() || h.Of(8).Result != Applying {
		t.Errorf("it remembers %+v", h)
	}
	k.See(look(noon, 7, 7)) // somebody has taken 8 off the list
	if h, _ = k.Known(); h.Of(8).Result != Superseded {
		t.Errorf("it remembers %+v", h)
	}
}

func TestKeeper_goes_on_from_what_is_stored(t *testing.T) {
	c := fake.NewFakeClient()
	first := loaded(t, c)
	first.List(revision(1))
	if err := first.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := loaded(t, c)
	second.List(revision(2))
	// Somebody else has written or deleted it meanwhile: what this process knows is stored all the same.
	stored := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: "ns", Name: ConfigMap}
	if err := c.Get(t.Context(), key, stored); err != nil {
		t.Fatal(err)
	}
	stored.Data[Key] = "{}"
	if err := c.Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	if err := second.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h, _ := loaded(t, c).Known(); len(h.Revisions) != 2 || h.Lost {
		t.Errorf("stored is %+v", h)
	}
	if err := c.Delete(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	second.List(revision(3))
	if err := second.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h, _ := loaded(t, c).Known(); len(h.Revisions) != 3 {
		t.Errorf("stored is %+v", h)
	}
}

func TestKeeper_keeps_what_another_writer_has_listed_and_used_meanwhile(t *testing.T) {
	c := fake.NewFakeClient()
	mine, theirs := loaded(t, c), loaded(t, c) // the other one has the Lease no more, and writes once at its end
	theirs.List(revision(1))
	theirs.List(revision(2))
	theirs.Consent("4.22.0-c-2", "theirs")
	if err := theirs.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	mine.List(revision(2))
	mine.Consent("4.22.0-c-2", "mine")
	mine.See(look(noon.Add(time.Minute), 2, 2))
	mine.List(revision(3))
	if err := mine.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	known, _ := mine.Known()
	stored, _ := loaded(t, c).Known()
	for where, h := range map[string]History{"known": known, "stored": stored} {
		if len(h.Revisions) != 3 || h.Of(1) == nil || h.Of(2).Result != Installed || strings.Join(h.Of(2).Consents, " ") != "mine theirs" || h.Lost {
			t.Errorf("%s is %+v", where, h)
		}
	}
}

func TestKeeper_writes_again_what_was_deleted_without_another_change(t *testing.T) {
	c := fake.NewFakeClient()
	k := loaded(t, c)
	k.Shown(t.Context(), nil)
	if err := k.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	stored := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: "ns", Name: ConfigMap}
	if err := c.Get(t.Context(), key, stored); err == nil {
		t.Error("it is written though there is nothing to remember")
	}
	k.List(revision(1))
	if err := k.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), key, stored); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	k.Shown(t.Context(), nil)
	if err := k.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h, _ := loaded(t, c).Known(); len(h.Revisions) != 1 {
		t.Errorf("stored is %+v", h)
	}
}

func TestKeeper_notes_nothing_before_it_has_read_and_forgets_nothing_that_it_cannot_write(t *testing.T) {
	broken := true
	c := interceptor.NewClient(fake.NewFakeClient(), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if broken {
				return errors.New("down")
			}
			return c.Get(ctx, key, o, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if broken {
				return errors.New("down")
			}
			return c.Create(ctx, o, opts...)
		},
	})
	k := keeper(t, c)
	if err := k.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "ConfigMap ns/capstan-history: down") {
		t.Errorf("the error is %v", err)
	}
	k.List(revision(1))
	if _, read := k.Known(); read {
		t.Error("it knows what it has not read")
	}
	broken = false
	if err := k.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.List(revision(1))
	broken = true
	if err := k.Flush(t.Context()); err == nil {
		t.Error("what was not written is no error")
	}
	broken = false
	if err := k.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h, _ := loaded(t, c).Known(); len(h.Revisions) != 1 {
		t.Errorf("stored is %+v", h)
	}
}

func TestRun_writes_what_was_noted_and_once_more_at_the_end(t *testing.T) {
	c := fake.NewFakeClient()
	k := loaded(t, c)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- k.Run(ctx) }()
	k.List(revision(1))
	end()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if h, _ := loaded(t, c).Known(); len(h.Revisions) != 1 || !h.Began.Equal(noon) {
		t.Errorf("stored is %+v", h)
	}
}

func TestRead_refuses_what_the_operator_does_not_write(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":        "",
		"no JSON":        "{",
		"another format": `{"format":2}`,
		"the same twice": `{"format":1,"revisions":[{"number":1,"name":"a"},{"number":1,"name":"b"}]}`,
		"no number":      `{"format":1,"revisions":[{"name":"a"}]}`,
		"a number alone": `{"format":1,"revisions":[{"number":1}]}`,
		"too much":       strings.Repeat(" ", MaxBytes+1),
	} {
		if h, err := Read([]byte(text)); err == nil {
			t.Errorf("%s is read as %+v", name, h)
		}
	}
}

func TestEncode_keeps_the_bounds_and_the_last_installed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h History
		long := rapid.IntRange(0, 30000).Draw(t, "bytes of each")
		for number := range int64(rapid.IntRange(0, 40).Draw(t, "revisions")) {
			r := revision(number + 1)
			r.Result = rapid.SampledFrom([]Result{Applying, Installed, Superseded}).Draw(t, "result")
			r.Unmanaged = []string{strings.Repeat("a", long)}
			h.enter(r)
		}
		var installed []int64
		for _, r := range h.Revisions {
			if r.Result == Installed {
				installed = append(installed, r.Number)
			}
		}
		all := len(h.Revisions)
		text, left, err := encode(h.clone())
		if err != nil || len(text) > MaxBytes || len(left.Revisions) > MaxRevisions {
			t.Fatalf("%d bytes, %d revisions, error %v", len(text), len(left.Revisions), err)
		}
		for _, number := range installed[max(0, len(installed)-KeepInstalled):] {
			if left.Of(number) == nil {
				t.Fatalf("installed revision %d is dropped", number)
			}
		}
		for _, r := range h.Revisions {
			if !left.Holds(r.Number) {
				t.Fatalf("revision %d is neither held nor dropped", r.Number)
			}
		}
		if (left.Dropped > 0) != (len(left.Revisions) < all) {
			t.Fatalf("dropped up to %d, and %d of %d are left", left.Dropped, len(left.Revisions), all)
		}
		again, err := Read(text)
		if err != nil || !same(again, left) {
			t.Fatalf("what is written is read as %+v: %v", again, err)
		}
	})
}

func TestHistory_keeps_what_the_newest_is_pinned_to(t *testing.T) {
	var h History
	for number := int64(1); number <= MaxRevisions+1; number++ {
		r := revision(number)
		r.Result = Installed
		h.enter(r)
	}
	h.Revisions[len(h.Revisions)-1].Pin = &Pin{Revision: 1}
	if _, fits, err := encode(h); err != nil || fits.Of(1) == nil || fits.Of(2) != nil || len(fits.Revisions) != MaxRevisions {
		t.Errorf("%d are kept, the first of which is %d (%v)", len(fits.Revisions), fits.Revisions[0].Number, err)
	}
}

func TestKeeper_believes_what_is_listed_and_takes_a_newest_one_for_no_loss(t *testing.T) {
	k := loaded(t, fake.NewFakeClient())
	for number := int64(1); number <= 2; number++ {
		k.List(revision(number))
	}
	other := look(noon, 1, 1, 2, 3) // 3 was listed, and nobody was left to note that
	other.Listed[1].Name = "4.22.0-other-2"
	k.See(other)
	h, _ := k.Known()
	if h.Lost || h.Of(2).Name != "4.22.0-other-2" || h.Of(3) == nil {
		t.Errorf("it remembers %+v", h)
	}
}

func TestBefore_skips_what_has_the_same_images(t *testing.T) {
	h := History{Revisions: []Revision{revision(1), revision(2), revision(3)}}
	for i := range h.Revisions {
		h.Revisions[i].Result = Installed
	}
	h.Revisions[1].Components = h.Revisions[2].Components
	if before := h.Before(3); before == nil || before.Number != 1 {
		t.Errorf("before 3 comes %v", before)
	}
}

func TestKeeper_waits_for_another_write_no_longer_than_it_may(t *testing.T) {
	sent, answered := make(chan struct{}), make(chan struct{})
	c := interceptor.NewClient(fake.NewFakeClient(), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			close(sent)
			<-answered
			return c.Create(ctx, o, opts...)
		},
	})
	k := loaded(t, c)
	k.List(revision(1))
	slow := make(chan error)
	go func() { slow <- k.Flush(t.Context()) }()
	<-sent
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k.List(revision(2))
	if err := k.Load(ctx); err != nil {
		t.Errorf("what was read waits: %v", err)
	}
	if err := k.Flush(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("it says %v", err)
	}
	close(answered)
	if err := <-slow; err != nil {
		t.Fatal(err)
	}
	if err := k.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h, _ := loaded(t, c).Known(); len(h.Revisions) != 2 {
		t.Errorf("stored is %+v", h)
	}
}
