package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
)

func encoded(t *testing.T, r Record) []byte {
	t.Helper()
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestReadings_stand_in_the_rows(t *testing.T) {
	busy := Reading{Progressing: true, Reason: Progressing}
	stuck := Reading{Progressing: true, Degraded: true, Reason: EphemeralError}
	trouble := Trouble{Ephemeral: Reading{Progressing: true, Reason: EphemeralError}, Terminal: Reading{Degraded: true, Reason: NonRetryableError}}
	table := resuming()
	table.Parts = []string{"Hinge", "Lock"}
	table.States[0].Part, table.States[0].Reads = "Hinge", busy
	table.States[1].Part = "Lock"
	table.States[2].Reads, table.States[2].Trouble = stuck, Trouble{Ephemeral: stuck, Terminal: trouble.Terminal}
	table.Moves[3].Trouble = trouble
	ephemeral, terminal := &Failure{Message: "rust"}, &Failure{Message: "walled up", Terminal: true}
	inLock := &Failure{Message: "no key", Part: "Lock"}
	for name, row := range map[string]struct {
		record      Record
		hinge, lock Reading
	}{
		"at work":                               {Record{State: "Closed"}, busy, idle},
		"at rest":                               {Record{State: "Open"}, idle, idle},
		"an error that may heal":                {Record{State: "Closed", Failure: ephemeral}, trouble.Ephemeral, idle},
		"a terminal error":                      {Record{State: "Closed", Failure: terminal}, trouble.Terminal, idle},
		"an error of the other part":            {Record{State: "Closed", Failure: inLock}, busy, trouble.Ephemeral},
		"what is resumed is at work":            {Record{State: "Stuck", CameFrom: "Closed"}, stuck, idle},
		"resumed with an error of another part": {Record{State: "Stuck", CameFrom: "Closed", Failure: inLock}, busy, stuck},
		"a state that is not of the table":      {Record{State: "Ajar"}, idle, idle},
	} {
		want := map[string]Reading{"Hinge": row.hinge, "Lock": row.lock}
		if got := table.Readings(row.record, world{}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

func TestReadings_an_aside_is_told_where_a_part_has_nothing_else_to_tell(t *testing.T) {
	trouble := Reading{Progressing: true, Reason: EphemeralError}
	jammed, heavy := Reading{Degraded: true, Reason: NonRetryableError}, Reading{Reason: WaitingOnExternal}
	table := resuming()
	table.Parts = []string{"Hinge", "Lock"}
	table.States[0].Part, table.States[0].Reads = "Hinge", Reading{Progressing: true, Reason: Progressing}
	table.States[0].Trouble = Trouble{Ephemeral: trouble}
	table.Moves[3].Trouble = Trouble{Ephemeral: trouble}
	table.Asides = []Aside[world]{
		{Part: "Lock", If: is("jammed", func(w world) bool { return w.broken }), Reads: jammed, Alert: alert("Jammed"), Doc: doc},
		{Part: "Lock", If: is("heavy", func(w world) bool { return w.broken || w.urgent }), Reads: heavy, Doc: doc},
		{Part: "Hinge", If: is("heavy", func(w world) bool { return w.urgent }), Reads: heavy, Doc: doc},
	}
	if err := table.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		record      Record
		world       world
		hinge, lock string
	}{
		"no guard says Yes":            {Record{State: "Open"}, world{}, AsExpected, AsExpected},
		"the first counts":             {Record{State: "Open"}, world{broken: true}, AsExpected, NonRetryableError},
		"work goes before":             {Record{State: "Closed"}, world{urgent: true}, Progressing, WaitingOnExternal},
		"an error of a part, too":      {Record{State: "Closed", Failure: &Failure{Part: "Lock"}}, world{broken: true}, Progressing, EphemeralError},
		"a part at rest has time":      {Record{State: "Open"}, world{urgent: true}, WaitingOnExternal, WaitingOnExternal},
		"a state not of the table too": {Record{State: "Ajar"}, world{urgent: true}, WaitingOnExternal, WaitingOnExternal},
	} {
		got := table.Readings(row.record, row.world)
		if got["Hinge"].Reason != row.hinge || got["Lock"].Reason != row.lock {
			t.Errorf("%s: got %+v, want %s and %s", name, got, row.hinge, row.lock)
		}
	}
	table.Asides[0].Part = "Handle"
	if err := table.Validate(); err == nil {
		t.Error("an aside of a part that is not declared is taken")
	}
}

func TestPartOf_of_joined_errors_is_that_of_the_first(t *testing.T) {
	lock, hinge, other := InPart("Lock", errors.New("no key")), InPart("Hinge", errors.New("rust")), errors.New("no oil")
	for _, row := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{other, ""},
		{lock, "Lock"},
		{fmt.Errorf("opening: %w", lock), "Lock"},
		{errors.Join(lock, lock), "Lock"},
		{errors.Join(lock, hinge), "Lock"},
		{errors.Join(other, lock), "Lock"},
		{InPart("Lock", nil), ""},
	} {
		if got := PartOf(row.err); got != row.want {
			t.Errorf("PartOf(%v) is %q, want %q", row.err, got, row.want)
		}
	}
}
