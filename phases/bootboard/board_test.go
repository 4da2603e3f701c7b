package bootboard

import (
	"testing"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/golden"
)

func TestPost_wakes_targets_to_news_only(t *testing.T) {
	b, woken := New(), 0
	b.OnNews(func() { woken++ })
	for _, row := range []struct {
		verdict Verdict
		woken   int
	}{
		{Verdict{Known: true, News: "a"}, 1},
		{Verdict{Known: true, News: "a", Why: "other words"}, 1},
		{Verdict{News: "a"}, 2},
		{Verdict{News: "b"}, 3},
	} {
		if b.Post(row.verdict); woken != row.woken || b.Verdict().Why != row.verdict.Why {
			t.Errorf("after %+v targets were woken %d times, want %d", row.verdict, woken, row.woken)
		}
	}
}

func TestStand_tells_the_gate_what_is_new(t *testing.T) {
	b, told := New(), 0
	b.OnStanding(func() { told++ })
	b.Stand("a", Standing{Name: "a"})
	b.Stand("a", Standing{Name: "a"})
	b.Stand("a", Standing{Name: "a", Done: true})
	b.Stand("b", Standing{Kind: golden.CAPIMachineSets, Name: "b"})
	b.Gone("c")
	if told != 3 {
		t.Errorf("the gate was told %d times", told)
	}
	if b.Gone("a"); told != 4 || len(b.Standings()) != 1 || b.Standings()[0].Name != "b" {
		t.Errorf("the gate was told %d times, and %+v stand", told, b.Standings())
	}
	if _, is := b.Of("a"); is {
		t.Error("what is gone stands")
	}
}

func TestComplete(t *testing.T) {
	stand := func(b *Board, news ...string) {
		for i, of := range news {
			b.Stand(machine.Key(rune('a'+i)), Standing{News: of})
		}
	}
	for name, row := range map[string]struct {
		roster      func() ([]machine.Key, bool)
		stands      []string
		all, judged bool
	}{
		"nobody knows which there are": {nil, []string{"n"}, false, false},
		"they are not listed yet":      {func() ([]machine.Key, bool) { return nil, false }, nil, false, false},
		"there is none":                {func() ([]machine.Key, bool) { return nil, true }, nil, true, true},
		"one does not stand":           {func() ([]machine.Key, bool) { return []machine.Key{"a", "b"}, true }, []string{"n"}, false, false},
		"one has older news":           {func() ([]machine.Key, bool) { return []machine.Key{"a", "b"}, true }, []string{"n", "o"}, true, false},
		"all were judged":              {func() ([]machine.Key, bool) { return []machine.Key{"a", "b"}, true }, []string{"n", "n"}, true, true},
	} {
		b := New()
		b.OnRoster(row.roster)
		stand(b, row.stands...)
		if all, judged := b.Complete("n"); all != row.all || judged != row.judged {
			t.Errorf("%s: %v, %v", name, all, judged)
		}
	}
}

func TestRetire_either_the_plan_or_the_deletion_gives_way(t *testing.T) {
	b, woken := New(), 0
	b.OnNews(func() { woken++ })
	b.Stand("a", Standing{Clone: "planned", Template: "named"})
	if b.Retire("planned") || b.Retire("named") || !b.Retire("unused") {
		t.Error("what is planned or named may be deleted, or what is unused may not")
	}
	if b.Retired("unused"); woken > 0 {
		t.Error("targets are woken though none waits")
	}
	if !b.Retire("unused") || !b.Retiring("unused") || b.Retiring("planned") {
		t.Error("a plan does not wait for a deletion, or waits for none")
	}
	if b.Retired("unused"); woken != 1 || b.Retiring("unused") {
		t.Errorf("targets were woken %d times", woken)
	}
}

func TestStay_are_those_that_keep_a_stub_as_it_is(t *testing.T) {
	b := New()
	b.Stand("a", Standing{Kind: golden.MachineSets, Name: "a", Stub: "n/s", Shares: true})
	b.Stand("b", Standing{Kind: golden.MachineSets, Name: "b", Stub: "n/s", Shares: true, MayMove: true})
	b.Stand("c", Standing{Kind: golden.MachineSets, Name: "c", Stub: "n/s"})
	b.Stand("d", Standing{Kind: golden.CAPIMachineSets, Name: "d", Stub: "m/s", Original: "n/s", Shares: true})
	if stay := b.Stay("n/s"); len(stay) != 2 || stay[0] != "machinesets.cluster.x-k8s.io/d" || stay[1] != "machinesets.machine.openshift.io/a" {
		t.Errorf("%q stay", stay)
	}
}
