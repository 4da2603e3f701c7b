package bootboard_test

import (
	"slices"
	"testing"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/golden"
)

func TestBoard_wakes_targets_for_news_only_and_the_gate_for_who_stands_otherwise(t *testing.T) {
	b, woken, told := bootboard.New(), 0, 0
	b.OnNews(func() { woken++ })
	b.OnStanding(func() { told++ })
	for _, v := range []bootboard.Verdict{{Known: true, News: "a"}, {Known: true, News: "a", Why: "words"}, {Known: true, News: "b"}, {News: "b"}} {
		b.Post(v)
	}
	if woken != 3 {
		t.Errorf("targets were woken %d times, want 3", woken)
	}
	for _, s := range []bootboard.Standing{{Name: "x"}, {Name: "x"}, {Name: "x", Done: true}} {
		b.Stand("x", s)
	}
	b.Gone("x")
	b.Gone("x")
	if told != 3 {
		t.Errorf("the gate was told %d times, want 3", told)
	}
}

func TestBoard_names_who_starts_from_a_stub_and_does_not_move(t *testing.T) {
	b := bootboard.New()
	for key, s := range map[machine.Key]bootboard.Standing{
		"moves":   {Name: "moves", Stub: "n/s", Shares: true, MayMove: true},
		"stays":   {Name: "stays", Stub: "n/s", Shares: true},
		"twin":    {Name: "twin", Stub: "n/s"},
		"copy":    {Name: "copy", Stub: "m/s", Original: "n/s", Shares: true},
		"another": {Name: "another", Stub: "n/t", Shares: true},
	} {
		s.Kind = golden.MachineSets
		b.Stand(key, s)
	}
	if stay := b.Stay("n/s"); !slices.Equal(stay, []string{"machinesets.machine.openshift.io/copy", "machinesets.machine.openshift.io/stays"}) {
		t.Errorf("those stay: %v", stay)
	}
	if keys := b.StartFrom("n/s"); len(keys) != 4 {
		t.Errorf("those start from it: %v", keys)
	}
}
