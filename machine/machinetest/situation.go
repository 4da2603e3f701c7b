package machinetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// situation is one row of the truth table: a state, an answer for every atom
// on the moves that leave it, and what time and errors have done.
type situation struct {
	state   machine.State
	answers map[string]machine.Truth
	// lasted says that guards which have to last have said Yes for long enough.
	lasted   bool
	stalled  bool
	failing  bool
	terminal bool
}

func (s situation) String() string {
	var parts []string
	for name, truth := range s.answers {
		parts = append(parts, name+"="+truth.String())
	}
	slices.Sort(parts)
	return fmt.Sprintf("%s (lasted=%v stalled=%v failing=%v terminal=%v)", strings.Join(parts, " "), s.lasted, s.stalled, s.failing, s.terminal)
}

// situations are all of them: 3^n assignments per state, times the marks of time
// and errors that any move out of the state asks for. Of those in which an urgent
// move is possible, whatever the other moves ask, there are three: nothing but
// urgent moves counts in them.
func situations[F, E any](table machine.Table[F, E]) []situation {
	var all []situation
	for _, row := range table.States {
		marks := marksOf(row.Name, table)
		for _, answers := range answersIn(row.Name, table) {
			for _, mark := range marks {
				mark.answers = answers
				all = append(all, mark)
			}
		}
	}
	return all
}

// answersIn are the assignments of answers that can make a difference in a state.
func answersIn[F, E any](state machine.State, table machine.Table[F, E]) []map[string]machine.Truth {
	var urgent []machine.Guard[F]
	var first, rest []string
	for _, move := range table.Leaving(state) {
		if move.Urgent {
			urgent = append(urgent, move.If)
			first = append(first, names(move.If, first)...)
		}
	}
	for _, move := range table.Leaving(state) {
		rest = append(rest, names(move.If, slices.Concat(first, rest))...)
	}
	var all []map[string]machine.Truth
	var facts F
	full := assignments(rest)
	for _, decided := range assignments(first) {
		others := full
		if len(urgent) > 0 && machine.Any(urgent...).WithAnswers(decided).Answer(facts).Truth == machine.Yes {
			others = alike(rest)
		}
		for _, other := range others {
			answers := maps.Clone(other)
			maps.Copy(answers, decided)
			all = append(all, answers)
		}
	}
	return all
}

// names are the questions of a guard that are not known yet.
func names[F any](guard machine.Guard[F], known []string) []string {
	var asked []string
	for _, atom := range guard.Atoms() {
		if !slices.Contains(known, atom.Name) {
			asked = append(asked, atom.Name)
		}
	}
	return asked
}

// alike are the assignments that give all questions the same answer.
func alike(atoms []string) []map[string]machine.Truth {
	var rows []map[string]machine.Truth
	for _, truth := range []machine.Truth{machine.Unknown, machine.No, machine.Yes} {
		row := map[string]machine.Truth{}
		for _, atom := range atoms {
			row[atom] = truth
		}
		rows = append(rows, row)
	}
	return rows
}

// marksOf are the situations of a state as to time and errors.
func marksOf[F, E any](state machine.State, table machine.Table[F, E]) []situation {
	marks := []situation{{state: state}}
	double := func(set func(*situation)) {
		for _, mark := range marks {
			set(&mark)
			marks = append(marks, mark)
		}
	}
	lasts, stalls, fails := false, false, false
	for _, move := range table.Leaving(state) {
		lasts, stalls, fails = lasts || move.For > 0, stalls || move.Stalled > 0, fails || move.Failing > 0
	}
	if lasts {
		double(func(s *situation) { s.lasted = true })
	}
	if stalls {
		double(func(s *situation) { s.stalled = true })
	}
	if fails { // a terminal failure counts at once, however long it has lasted
		for _, mark := range marks {
			failing, terminal := mark, mark
			failing.failing, terminal.terminal = true, true
			marks = append(marks, failing, terminal)
		}
	}
	return marks
}

func assignments(atoms []string) []map[string]machine.Truth {
	rows := []map[string]machine.Truth{{}}
	for _, atom := range atoms {
		var longer []map[string]machine.Truth
		for _, row := range rows {
			for _, truth := range []machine.Truth{machine.Unknown, machine.No, machine.Yes} {
				next := map[string]machine.Truth{atom: truth}
				for k, v := range row {
					next[k] = v
				}
				longer = append(longer, next)
			}
		}
		rows = longer
	}
	return rows
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// longAgo is before any deadline that counts up to noon could begin.
var longAgo = noon.Add(-1000 * time.Hour)

func (s situation) record(events []machine.Event, way way) machine.Record {
	record := machine.Record{State: s.state, CameFrom: way.from, LastEvent: way.on, Since: noon, Progress: machine.Progress{Since: noon}}
	if s.stalled {
		record.Progress.Since = longAgo
	}
	if s.failing || s.terminal {
		record.Failure = &machine.Failure{Message: "an error", Terminal: s.terminal, Since: noon}
		if s.failing {
			record.Failure.Since = longAgo
		}
	}
	if s.lasted {
		record.Lasting = map[machine.Event]time.Time{}
		for _, event := range events {
			record.Lasting[event] = longAgo
		}
	}
	return record
}

// memory is a store that forgets when the test ends.
type memory[F, E any] struct {
	record machine.Record
	found  bool
	saves  int
}

func (m *memory[F, E]) Load(context.Context, machine.Key) (machine.Record, bool, error) {
	return m.record, m.found, nil
}

func (m *memory[F, E]) Save(_ context.Context, _ machine.Key, s machine.Snapshot[F, E]) (time.Duration, error) {
	m.record, m.found = s.Record, true
	m.saves++
	return 0, nil
}
