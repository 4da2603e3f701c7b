// Package machinetest proves tables and plays stories on them. Check walks
// through every state and every assignment of answers; Play runs the stories
// that a machine keeps under testdata. It knows no machine and needs no world.
package machinetest

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/machine"
)

var update = flag.Bool("update", false, "write the generated state diagrams instead of comparing them")

// Check proves what every table must keep. diagram is the path of its
// generated page; `go test -update` writes it. questions is how many a state may ask at most, so that the
// proof gets no longer by the way.
func Check[F, E any](t *testing.T, table machine.Table[F, E], diagram string, questions int) {
	t.Run("the structure is sound and every row has a sentence", func(t *testing.T) {
		if err := table.Validate(); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("no state asks too many questions", func(t *testing.T) { checkQuestions(t, table, questions) })
	all := situations(table)
	var made choices
	t.Run("no two moves of one rank are ever possible together, and every move fires", func(t *testing.T) {
		made = checkChoices(t, table, all)
	})
	t.Run("all Unknown moves nothing", func(t *testing.T) { checkUnknown(t, table) })
	t.Run("a record that no move has led to begins anew", func(t *testing.T) { checkForged(t, table) })
	t.Run("events that a state does not have are refused", func(t *testing.T) { checkIllegal(t, table) })
	t.Run("a failing effect leaves the state as it was", func(t *testing.T) { checkEffects(t, table, all, made) })
	t.Run("the order of rows has no meaning", func(t *testing.T) { checkShuffled(t, table, all, made) })
	t.Run("a decision that was written down is taken again as it was", func(t *testing.T) {
		for _, fault := range made.replayed {
			t.Error(fault)
		}
	})
	t.Run("the generated diagram is fresh", func(t *testing.T) { checkDiagram(t, table.Page(), diagram) })
}

func checkQuestions[F, E any](t *testing.T, table machine.Table[F, E], most int) {
	for _, state := range table.States {
		asked := map[string]bool{}
		for _, move := range table.Leaving(state.Name) {
			for _, atom := range move.If.Atoms() {
				asked[atom.Name] = true
			}
		}
		if len(asked) > most {
			t.Errorf("%s asks %d questions, more than %d: %v", state.Name, len(asked), most, slices.Sorted(maps.Keys(asked)))
		}
	}
}

// choices are what came of every situation, in their order. There are many, so
// that only what is compared later is kept.
type choices struct {
	made []choice
	// replayed are the faults of decisions that were taken again.
	replayed []error
}

type choice struct {
	state        machine.State
	event        machine.Event // of the move made, empty for none
	work, reason string
}

func choiceOf(o machine.Outcome) choice {
	c := choice{state: o.State, work: o.Work, reason: o.Reason}
	if o.Moved != nil {
		c.event = o.Moved.Event
	}
	return c
}

// checkChoices returns what came of every situation.
func checkChoices[F, E any](t *testing.T, table machine.Table[F, E], all []situation) choices {
	fired, player, written := map[string]bool{}, newPlayer(table), map[string]bool{}
	var out choices
	for _, s := range all {
		outcome, err := player.play(s, nil)
		var ambiguous *machine.AmbiguousError
		if errors.As(err, &ambiguous) {
			t.Fatalf("%v, when %s", err, s)
		}
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		made := choiceOf(outcome)
		if made.event != "" {
			fired[string(s.state)+" "+string(made.event)] = true
		}
		out.made = append(out.made, made)
		if err := checkReplay(table, outcome, written); err != nil && len(out.replayed) < 10 {
			out.replayed = append(out.replayed, fmt.Errorf("%w, when %s", err, s))
		}
	}
	for _, move := range table.Moves {
		for _, from := range move.From {
			if !fired[string(from)+" "+string(move.On)] {
				t.Errorf("no answers at all make the move on %s from %s", move.On, from)
			}
		}
	}
	return out
}

func checkUnknown[F, E any](t *testing.T, table machine.Table[F, E]) {
	player := newPlayer(table)
	for _, row := range table.States {
		outcome, err := player.play(situation{state: row.Name}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if outcome.Moved != nil {
			t.Errorf("in %s with all answers Unknown %s moved to %s", row.Name, outcome.Moved.Event, outcome.Moved.To)
		}
	}
}

// checkForged tries every state with every state before it and every event.
func checkForged[F, E any](t *testing.T, table machine.Table[F, E]) {
	player := newPlayer(table)
	for _, row := range table.States {
		for _, from := range table.States {
			for _, on := range player.events {
				player.ways[row.Name] = way{from: from.Name, on: on}
				outcome, err := player.play(situation{state: row.Name}, nil)
				if err != nil {
					t.Fatal(err)
				}
				want := table.Start
				for _, move := range table.Leaving(from.Name) {
					if move.On == on && move.To == row.Name {
						want = row.Name
					}
				}
				if outcome.State != want {
					t.Errorf("a record in %s, come from %s by %s, goes on in %s instead of %s", row.Name, from.Name, on, outcome.State, want)
				}
			}
		}
	}
}

func checkIllegal[F, E any](t *testing.T, table machine.Table[F, E]) {
	legal := map[string]bool{}
	events := map[machine.Event]bool{}
	for _, move := range table.Moves {
		events[move.On] = true
		for _, from := range move.From {
			legal[string(from)+" "+string(move.On)] = true
		}
	}
	for _, row := range table.States {
		for event := range events {
			err := table.Legal(t.Context(), row.Name, event)
			if is := err == nil; is != legal[string(row.Name)+" "+string(event)] {
				t.Errorf("%s in %s: legal is %v (%v)", event, row.Name, is, err)
			}
		}
	}
}

// checkEffects looks where an effect ran: elsewhere one that fails changes nothing.
func checkEffects[F, E any](t *testing.T, table machine.Table[F, E], all []situation, made choices) {
	broken, player := errors.New("the effect fails"), newPlayer(table)
	for i, s := range all {
		if !hasEffect(table, s.state, made.made[i].event) {
			continue
		}
		outcome, err := player.play(s, broken)
		if err != nil {
			t.Fatal(err)
		}
		want := s.state
		for _, move := range table.Leaving(s.state) {
			if move.Failing > 0 && s.failing {
				want = move.To // errors have lasted for too long by now
			}
		}
		if outcome.State != want || !errors.Is(outcome.Failure, broken) {
			t.Errorf("in %s a failing effect (%v) led to %s instead of %s, when %s", s.state, outcome.Failure, outcome.State, want, s)
		}
	}
}

func hasEffect[F, E any](table machine.Table[F, E], from machine.State, on machine.Event) bool {
	for _, move := range table.Moves {
		if move.On == on && move.Do.Run != nil && slices.Contains(move.From, from) {
			return true
		}
	}
	return false
}

func checkShuffled[F, E any](t *testing.T, table machine.Table[F, E], all []situation, made choices) {
	shuffled := table.WithDoubles(nil, func(string) (machine.Result, error) { return machine.Result{}, nil })
	rand.Shuffle(len(shuffled.Moves), func(i, j int) {
		shuffled.Moves[i], shuffled.Moves[j] = shuffled.Moves[j], shuffled.Moves[i]
	})
	player := newPlayer(shuffled)
	for i, s := range all {
		outcome, err := player.play(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if one, two := made.made[i], choiceOf(outcome); one != two {
			t.Errorf("shuffling the rows changed %+v to %+v, when %s", one, two, s)
		}
	}
}

// checkReplay takes a decision again. The first one of every kind is written down
// and read before; what is in it is of the same types in all of them.
func checkReplay[F, E any](table machine.Table[F, E], outcome machine.Outcome, written map[string]bool) error {
	if leaving := len(table.Leaving(outcome.State)); len(outcome.Moves()) != leaving {
		return fmt.Errorf("of %d moves that leave %s, %d are told", leaving, outcome.State, len(outcome.Moves()))
	}
	made := outcome.Decision()
	if made == nil {
		return nil
	}
	decision := *made
	if kind := fmt.Sprint(decision.State, decision.Event, decision.Failure != nil, len(decision.Lasting)); !written[kind] {
		written[kind] = true
		text, err := json.Marshal(decision)
		var read machine.Decision
		if err != nil || json.Unmarshal(text, &read) != nil || !reflect.DeepEqual(read, decision) {
			return fmt.Errorf("the decision %+v cannot be written down and read (%w): %s", decision, err, text)
		}
		decision = read
	}
	again, _, err := table.Replay(decision)
	if err != nil || again.Event != decision.Event || again.To != decision.To || again.Cause != decision.Cause {
		return fmt.Errorf("the decision %+v is now %+v (%w)", decision, again, err)
	}
	return nil
}

func checkDiagram(t *testing.T, page, path string) {
	have, err := os.ReadFile(path)
	if err != nil && !(*update && errors.Is(err, fs.ErrNotExist)) {
		t.Fatalf("reading the diagram: %v; run `make diagrams`", err)
	}
	fresh(t, path, string(have), page)
}

// Shown proves that the first Mermaid block in a document, such as the README,
// is the table's diagram.
func Shown[F, E any](t *testing.T, table machine.Table[F, E], path string) {
	t.Run("the generated diagram is fresh in "+filepath.Base(path), func(t *testing.T) {
		have, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("reading the document: %v", err)
		}
		before, rest, found := strings.Cut(string(have), "```mermaid\n")
		_, after, closed := strings.Cut(rest, "```\n")
		if !found || !closed {
			t.Fatalf("%s has no Mermaid block to show the machine in", path)
		}
		fresh(t, path, string(have), before+"```mermaid\n"+table.Diagram("")+"```\n"+after)
	})
}

// fresh compares a file with what it should be, or writes it with -update.
func fresh(t *testing.T, path, have, want string) {
	switch {
	case have == want:
	case *update:
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is stale; run `make diagrams` and look at what changed", path)
	}
}
