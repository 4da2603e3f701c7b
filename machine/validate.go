package machine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxQuestions is how many questions a state may ask: the proof of a table
// walks through every assignment of three answers to each, but for those that
// an urgent move has decided already.
const maxQuestions = 10

// Validate reports every mistake of structure in a table at once: unknown or
// doubled names, two moves for one event and state, a move without exactly one
// trigger, an effect whose failure leads nowhere, a working state without a
// deadline, a quiet state that writes, a dead end, too many questions, an aside of no part, a row that needs a human and has no alert, a missing
// sentence of documentation.
func (t Table[F, E]) Validate() error {
	var problems []error
	problem := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("machine %s: "+format, append([]any{t.Name}, args...)...))
	}
	if _, ok := t.State(t.Start); !ok {
		problem("the start state %q is not declared", t.Start)
	}
	if !isSentence(t.Doc) {
		problem("has no doc sentence")
	}
	seen := map[State]bool{}
	for _, row := range t.States {
		if seen[row.Name] {
			problem("state %s is declared twice", row.Name)
		}
		seen[row.Name] = true
		t.validateState(row, problem)
	}
	taken := map[string]State{}
	for _, move := range t.Moves {
		t.validateMove(move, problem)
		for _, from := range move.From {
			key := string(from) + " " + string(move.On)
			if to, twice := taken[key]; twice {
				problem("%s leaves %s twice, to %s and to %s", move.On, from, to, move.To)
			}
			taken[key] = move.To
		}
	}
	for i, aside := range t.Asides {
		if aside.For > 0 && slices.ContainsFunc(t.Asides[:i], func(other Aside[F]) bool { return other.For > 0 && other.name() == aside.name() }) {
			problem("two asides for which %s has to last cannot be told apart", aside.If.Name)
		}
		if !slices.Contains(t.Parts, aside.Part) || !aside.If.Asked() || !isSentence(aside.Doc) {
			problem("the aside %q needs a declared part, a guard and a doc sentence", aside.Doc)
		}
	}
	t.validateAlerts(problem)
	for _, row := range t.States {
		if !t.reachesRest(row.Name, map[State]bool{}) {
			problem("no rest state can be reached from %s", row.Name)
		}
	}
	return errors.Join(problems...)
}

func (t Table[F, E]) validateState(row StateRow[E], problem func(string, ...any)) {
	if !isSentence(row.Doc) {
		problem("state %s has no doc sentence", row.Name)
	}
	if (row.Work.Run != nil || row.Work.resumes) && (row.Work.Name == "" || !isSentence(row.Work.Doc)) {
		problem("the work of state %s has no name or no doc sentence", row.Name)
	}
	if row.Part != "" && !slices.Contains(t.Parts, row.Part) {
		problem("the part %q of state %s is not declared", row.Part, row.Name)
	}
	if asked := len(t.questions(row.Name)); asked > maxQuestions {
		problem("%d questions are asked in state %s, and the proof walks through at most %d", asked, row.Name, maxQuestions)
	}
	if row.Quiet && (row.Work.resumes || len(row.Work.Writes) > 0) {
		problem("state %s is quiet, and its work writes", row.Name)
	}
	if row.Trouble.Patience > 0 && t.hasFailureEdge(row.Name) {
		problem("state %s has patience with errors, and a failure edge that leaves it", row.Name)
	}
	leaving, deadline := t.Leaving(row.Name), false
	for _, move := range leaving {
		deadline = deadline || move.Stalled > 0
	}
	if row.Name == t.Start && row.Work.resumes {
		problem("state %s is the start, and has nothing to resume", row.Name)
	}
	switch {
	case len(leaving) == 0:
		problem("no move leaves state %s", row.Name)
	case !row.Rest && !deadline:
		problem("state %s is not at rest and has no deadline", row.Name)
	}
}

func (t Table[F, E]) validateMove(move Move[F, E], problem func(string, ...any)) {
	triggers := 0
	for _, is := range []bool{move.If.Asked(), move.Stalled > 0, move.Failing > 0} {
		if is {
			triggers++
		}
	}
	if triggers != 1 {
		problem("move %s has %d triggers, it needs exactly one of If, Stalled and Failing", move.On, triggers)
	}
	if move.For > 0 && !move.If.Asked() {
		problem("move %s has For without If", move.On)
	}
	if move.Urgent && !move.If.Asked() {
		problem("move %s is urgent without a guard", move.On)
	}
	for _, atom := range move.If.Atoms() {
		if atom.Name == "" || !isSentence(atom.Doc) {
			problem("a guard of move %s (%q) has no name or no doc sentence", move.On, atom.Name)
		}
	}
	if !isSentence(move.Doc) {
		problem("move %s has no doc sentence", move.On)
	}
	if move.Do.Run != nil && (move.Do.Name == "" || !isSentence(move.Do.Doc)) {
		problem("the effect of move %s has no name or no doc sentence", move.On)
	}
	if to, ok := t.State(move.To); ok && to.Quiet && move.Do.Name != "" {
		problem("move %s leads to %s, which is quiet, and has an effect", move.On, move.To)
	} else if !ok {
		problem("move %s leads to %q, which is not declared", move.On, move.To)
	}
	for _, from := range move.From {
		if _, ok := t.State(from); !ok {
			problem("move %s leaves %q, which is not declared", move.On, from)
		}
		if from == move.To {
			problem("move %s leads from %s to itself", move.On, from)
		}
		if move.Do.Run != nil && !t.hasFailureEdge(from) {
			problem("the effect of move %s can fail in %s, which has no failure edge", move.On, from)
		}
	}
}

// hasFailureEdge reports whether an error that lasts leads out of the state.
func (t Table[F, E]) hasFailureEdge(state State) bool {
	for _, move := range t.Leaving(state) {
		if move.Failing > 0 {
			return true
		}
	}
	return false
}

func (t Table[F, E]) reachesRest(from State, visited map[State]bool) bool {
	row, ok := t.State(from)
	if !ok || visited[from] {
		return false
	}
	if row.Rest {
		return true
	}
	visited[from] = true
	for _, move := range t.Leaving(from) {
		if t.reachesRest(move.To, visited) {
			return true
		}
	}
	return false
}

func isSentence(doc string) bool { return strings.HasSuffix(doc, ".") && len(doc) > 10 }
