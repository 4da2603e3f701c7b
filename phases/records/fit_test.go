package records

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// room is a sixteenth of what a shard has.
const room = maxPacked / 16

// noise is text that cannot be packed well, another one for each seed.
func noise(seed, bytes int) string {
	var key [32]byte
	key[0], key[1] = byte(seed), byte(seed>>8)
	raw := make([]byte, bytes*3/4)
	_, _ = rand.NewChaCha8(key).Read(raw) // it never fails
	return base64.StdEncoding.EncodeToString(raw)
}

// large is a record of about so many bytes that have nothing to do with transitions, and with transitions of as many.
func large(seed, inputs, transitions int) machine.Record {
	r := machine.Record{State: "Ready", Since: noon, Entry: machine.Entry{Inputs: noise(seed, inputs)}}
	for n := range transitions / 1000 {
		r.Transitions = append(r.Transitions, machine.Transition{From: "A", To: "B", At: noon.Add(time.Duration(n)), Cause: noise(seed+1000*n, 900)})
	}
	return r
}

func entryWith(t *testing.T, r machine.Record) entry {
	t.Helper()
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return entry{Record: raw}
}

func TestFit_the_largest_records_lose_their_transitions_first(t *testing.T) {
	stored := entries{"ns/small": entryWith(t, large(1, 10, 1_000))}
	for i, full := 0, false; !full; i++ {
		before := maps.Clone(stored)
		stored[keyOf(i)] = entryWith(t, large(i+2, 10, 3_000))
		if _, err := pack(stored, room); err != nil {
			stored, full = before, true
		}
	}
	all, packed, refused, err := fit(stored, entries{"ns/new": entryWith(t, large(99, 3_750, 0))}, room)
	if err != nil || len(refused) != 0 || len(all) != len(stored)+1 || len(packed) > room {
		t.Fatalf("%d records in %d bytes, refused are %v (%v)", len(all), len(packed), refused, err)
	}
	cut := 0
	for key, raw := range all {
		if raw.size() < stored[key].size() {
			cut++
		}
	}
	if cut == 0 || cut > 4 || !all["ns/small"].equal(stored["ns/small"]) {
		t.Errorf("%d have lost transitions", cut)
	}
}

func TestFit_refuses_what_grows_most_and_nothing_else(t *testing.T) {
	stored, changes := entries{}, entries{"ns/small": entryWith(t, large(99, 100, 0)), "ns/0": {}}
	for i := range 19 {
		stored[keyOf(i)] = entryWith(t, large(i, 3_750, 0))
	}
	for i := range 5 {
		changes[keyOf(20+i)] = entryWith(t, large(30+i, 3_125+4*i, 0))
	}
	changes["ns/1"] = entryWith(t, large(50, 3_812, 0))
	all, packed, refused, err := fit(stored, changes, room)
	if err != nil || len(packed) > room {
		t.Fatalf("%d bytes (%v)", len(packed), err)
	}
	if all["ns/0"].size() > 0 || all["ns/small"].size() == 0 || !all["ns/1"].equal(changes["ns/1"]) || all[keyOf(20)].size() == 0 {
		t.Error("a change that fits is not among them")
	}
	if len(refused) != 3 || refused[keyOf(24)] == nil || all[keyOf(24)].size() > 0 || !strings.Contains(refused[keyOf(24)].Error(), "more shards") {
		t.Errorf("refused are %v", refused)
	}
	if text := fmt.Sprint(refused); strings.Count(text, "ns/2") != 2*len(refused) {
		t.Errorf("the errors are %s", text)
	}
}

func TestPack_takes_no_more_than_unpack(t *testing.T) {
	all := entries{}
	for i := range maxUnpacked / 60_000 {
		all[keyOf(i)] = entryWith(t, machine.Record{State: "Ready", Cause: strings.Repeat("x", 60_000)})
	}
	packed, err := pack(all, maxPacked)
	if err != nil {
		t.Fatal(err)
	}
	if got := unpack(packed, func(machine.Key) bool { return true }, maxEntry); !got.all.equal(all) || len(got.dropped) > 0 || got.err != nil {
		t.Errorf("of %d there are %d, dropped are %v (%v)", len(all), len(got.all), got.dropped, got.err)
	}
	all["ns/more"] = entryWith(t, machine.Record{State: "Ready", Cause: strings.Repeat("x", 60_000)})
	if _, err := pack(all, maxPacked); err == nil {
		t.Error("it packs what it would not unpack")
	}
}

func TestConfigMaps_a_record_without_room_holds_nobody_up(t *testing.T) {
	c := newCluster(t)
	s, clock := clocked(c)
	s.room = room
	save := func(key machine.Key, r machine.Record) string {
		t.Helper()
		loaded(t, s, key)
		return after(s.Save(t.Context(), key, machine.Snapshot[int, int]{Record: r}))
	}
	for i := range 22 {
		if got := save(keyOf(i), large(i, 3_750, 0)); got != "in 1s" {
			t.Fatal(got)
		}
	}
	clock.Step(time.Second)
	if got := save("ns/small", large(40, 10, 0)); got != "done" {
		t.Errorf("another record: %s", got)
	}
	full := 0
	for i := range 22 {
		if got := save(keyOf(i), large(i, 3_750, 0)); strings.Contains(got, "no room for what is to be stored of "+string(keyOf(i))) {
			full = i
		} else if got != "done" {
			t.Errorf("saving %d again: %s", i, got)
		}
	}
	if full == 0 {
		t.Fatal("it is not full")
	}
	if got := save(keyOf(full), large(full, 3_750, 0)); got != "in 1s" {
		t.Errorf("the one without room, soon after: %s", got)
	}
	clock.Step(time.Second)
	if got := save("ns/small", large(41, 10, 0)); got != "done" {
		t.Errorf("another record, together with it: %s", got)
	}
	if got := save(keyOf(full), large(full, 3_750, 0)); !strings.Contains(got, "no room") {
		t.Errorf("the one without room, tried with others: %s", got)
	}
	clock.Step(time.Second)
	if got := after(s.Forget(t.Context(), keyOf(0))); got != "done" {
		t.Fatal(got)
	}
	clock.Step(time.Second)
	if got := save(keyOf(full), large(full, 3_750, 0)); got != "done" {
		t.Errorf("when there is room: %s", got)
	}
	if got := save("ns/huge", large(60, 2*maxEntry, 0)); !strings.Contains(got, "65536 is the most") {
		t.Errorf("one that no shard takes: %s", got)
	}
}
