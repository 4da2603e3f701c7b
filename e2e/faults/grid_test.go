package faults_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// grid is a matrix as people read it, whichever machine it is of.
type grid struct {
	states, faults []described
	// cells are what is expected of each fault in each state.
	cells [][]outcome
}

// described is a state or a fault, and what is said of it.
type described struct{ name, text string }

// outcome is the word that the matrix shows, or why the fault cannot meet the state.
type outcome struct {
	word  word
	never string
}

// gridOf makes the grid of faults in states. A fault gives what it is called and what is expected of it in a state.
func gridOf[S, F any](states []S, state func(S) described, faults []F, fault func(F) (described, func(S) outcome)) (g grid) {
	for _, s := range states {
		g.states = append(g.states, state(s))
	}
	for _, f := range faults {
		is, expect := fault(f)
		var row []outcome
		for _, s := range states {
			row = append(row, expect(s))
		}
		g.faults, g.cells = append(g.faults, is), append(g.cells, row)
	}
	return g
}

// speaks fails where a fault has no name of its own or no sentence, or where it is not said what becomes of it.
func (g grid) speaks(t *testing.T) {
	t.Helper()
	names := map[string]bool{}
	for i, f := range g.faults {
		if names[f.name] || !strings.HasSuffix(f.text, ".") {
			t.Errorf("fault %q has no name of its own, or no sentence", f.name)
		}
		names[f.name] = true
		for j, s := range g.states {
			if e := g.cells[i][j]; (e.never == "") == (e.word == "") {
				t.Errorf("of %q in %s it is not said what is to happen, or why it cannot meet it", f.name, s.name)
			}
		}
	}
}

// writeTable writes a row for each fault.
func (g grid) writeTable(b *strings.Builder) {
	b.WriteString("| Fault |")
	for _, s := range g.states {
		fmt.Fprintf(b, " %s |", s.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(g.states)) + "\n")
	for i, f := range g.faults {
		fmt.Fprintf(b, "| %s |", f.name)
		for _, e := range g.cells[i] {
			if e.never != "" {
				e.word = "-"
			}
			fmt.Fprintf(b, " %s |", e.word)
		}
		b.WriteString("\n")
	}
}

// writeStates tells how the states are reached and held.
func (g grid) writeStates(b *strings.Builder) {
	for _, s := range g.states {
		fmt.Fprintf(b, "- **%s**: %s.\n", s.name, s.text)
	}
}

// writeFaults tells what the faults are.
func (g grid) writeFaults(b *strings.Builder) {
	for _, f := range g.faults {
		fmt.Fprintf(b, "- **%s**: %s\n", f.name, f.text)
	}
}

// writeNever tells what cannot happen, a line for neighbouring states of one reason.
func (g grid) writeNever(b *strings.Builder) {
	for i, f := range g.faults {
		var states []string
		for j, e := range g.cells[i] {
			if e.never == "" {
				continue
			}
			states = append(states, g.states[j].name)
			rest := g.cells[i][j+1:]
			if next := slices.IndexFunc(rest, func(o outcome) bool { return o.never != "" }); next >= 0 && rest[next].never == e.never {
				continue
			}
			fmt.Fprintf(b, "- %s in %s: %s.\n", f.name, strings.Join(states, ", "), e.never)
			states = nil
		}
	}
}
