package records

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"github.com/capstan-capi/capstan/machine"
)

// model is what a store with two shards has promised of a few keys, while writes fail, answers get lost, processes and
// ConfigMaps go, and another process writes as well.
type model struct {
	t     *testing.T
	rt    *rapid.T
	c     *cluster
	clock *testclock.FakeClock
	s     *ConfigMaps[int, int]
	// saved are the last records of this process, "none" for one that was forgotten, and ever those of all processes.
	saved map[machine.Key]string
	ever  map[machine.Key][]string
	// notes are those that may be stored: one, unless an answer got lost.
	notes map[machine.Key][]string
	n     int
}

func (m *model) open() *ConfigMaps[int, int] {
	o := optionsOf(m.c, 2)
	o.Clock, o.Late, o.Entry, o.Transitions = m.clock, 5*time.Second, 1<<10, 4
	o.Keep = func(r machine.Record) bool { return r.State != "Current" }
	o.Worth = func(note json.RawMessage) bool { return !strings.HasPrefix(string(note), `"old`) }
	return NewConfigMaps[int, int](o)
}

func (m *model) key() machine.Key { return keyOf(rapid.IntRange(0, 5).Draw(m.rt, "key")) }

// save saves a record of this process; keys of others are not its own.
func (m *model) save() {
	key, state := m.key(), rapid.SampledFrom([]machine.State{"Current", "Cloning", "Settling", ""}).Draw(m.rt, "state")
	var err error
	want := "none"
	if m.n++; state == "" {
		_, err = m.s.Forget(m.t.Context(), key)
	} else {
		shot := shotOf(state, fmt.Sprint(m.n))
		want = fmt.Sprintf("%s %d", state, m.n)
		_, err = m.s.Save(m.t.Context(), key, shot)
	}
	m.ever[key] = append(m.ever[key], want)
	if err == nil {
		m.saved[key] = want
	} else if m.c.lost != nil {
		delete(m.saved, key) // it is stored or not
	}
}

func (m *model) note() {
	key, by := m.key(), m.s
	if rapid.IntRange(0, 3).Draw(m.rt, "another process") == 0 {
		by = m.open()
	}
	seen, err := by.Note(m.t.Context(), key)
	if err != nil {
		m.rt.Fatal(err)
	}
	m.n++
	note := fmt.Sprintf(`"%s %d"`, rapid.SampledFrom([]string{"new", "old"}).Draw(m.rt, "note"), m.n)
	switch err := by.StoreNote(m.t.Context(), key, seen, []byte(note)); {
	case err == nil:
		m.notes[key] = []string{note}
	case m.c.lost != nil:
		m.notes[key] = append(m.notes[key], note)
	}
}

func (m *model) disturb() {
	m.c.fails, m.c.lost = nil, nil
	switch rapid.SampledFrom([]string{"nothing", "nothing", "writes fail", "answers get lost"}).Draw(m.rt, "disturb") {
	case "writes fail":
		m.c.fails = errors.New("away")
	case "answers get lost":
		m.c.lost = errors.New("lost")
	}
}

func (m *model) wait() {
	m.clock.Step(time.Duration(rapid.IntRange(1, 6_000).Draw(m.rt, "milliseconds")) * time.Millisecond)
}

func (m *model) crash() {
	m.s, m.saved = m.open(), map[machine.Key]string{}
}

// check compares the store with what it has promised, and the notes with what a new process sees.
func (m *model) check() {
	again := m.open()
	for n := range 6 {
		key := keyOf(n)
		if want, is := m.saved[key]; is {
			if got := loaded(m.t, m.s, key); got != want {
				m.rt.Fatalf("of %s there is %q, want %q", key, got, want)
			}
		}
		if got := loaded(m.t, again, key); got != "none" && !slices.Contains(m.ever[key], got) || strings.HasPrefix(got, "Current") {
			m.rt.Fatalf("of %s is stored %q", key, got)
		}
		got, want := noteOf(m.t, again, n), slices.Clone(m.notes[key])
		for i := range want {
			if strings.HasPrefix(want[i], `"old`) {
				want[i] = ""
			}
		}
		if !slices.Contains(want, got) {
			m.rt.Fatalf("of %s is noted %q, want one of %q", key, got, want)
		}
	}
}

// settle lets all that waits be written.
func (m *model) settle() {
	m.c.fails, m.c.lost = nil, nil
	m.clock.Step(time.Minute)
	for range 2 { // the first finds what somebody else has written
		for n := range 6 {
			key := keyOf(n)
			record, found, err := m.s.Load(m.t.Context(), key)
			if err == nil && found {
				_, err = m.s.Save(m.t.Context(), key, machine.Snapshot[int, int]{Record: record})
			} else if err == nil {
				_, err = m.s.Forget(m.t.Context(), key)
			}
			if err != nil {
				m.rt.Fatal(err)
			}
		}
		m.clock.Step(time.Minute)
	}
	again := m.open()
	for key, want := range m.saved {
		if strings.HasPrefix(want, "Current") {
			want = "none"
		}
		if got := loaded(m.t, again, key); got != want {
			m.rt.Fatalf("in the end of %s is stored %q, want %q", key, got, want)
		}
	}
}

func TestConfigMaps_keep_what_they_promise_whatever_happens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{
			t: t, rt: rt, c: newCluster(t), clock: testclock.NewFakeClock(noon),
			saved: map[machine.Key]string{}, ever: map[machine.Key][]string{}, notes: map[machine.Key][]string{},
		}
		m.s = m.open()
		for n := range 6 {
			m.notes[keyOf(n)] = []string{""}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"save":    func(*rapid.T) { m.save() },
			"note":    func(*rapid.T) { m.note() },
			"disturb": func(*rapid.T) { m.disturb() },
			"wait":    func(*rapid.T) { m.wait() },
			"crash":   func(*rapid.T) { m.crash() },
			"":        func(*rapid.T) { m.check() },
		})
		m.settle()
	})
}
