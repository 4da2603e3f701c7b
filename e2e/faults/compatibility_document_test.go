package faults_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheMatrixOfCompatibilitySpeaksOfEveryCell(t *testing.T) {
	names := map[string]bool{}
	for _, f := range needFaults() {
		if names[f.name] || !strings.HasSuffix(f.doc, ".") {
			t.Errorf("fault %q has no name of its own, or no sentence", f.name)
		}
		names[f.name] = true
		for _, s := range needStages {
			if e := f.expect(s); (e.never == "") == (e.word == "") {
				t.Errorf("of %q in %s it is not said what is to happen, or why it cannot meet it", f.name, s.state)
			}
		}
	}
}

// writeNeeds is the part of the document that is about the machine compatibility.
func writeNeeds(b *strings.Builder) {
	fmt.Fprintf(b, `
## The machine compatibility

The same for the [machine](state-diagrams/compatibility.md) of a CompatibilityRequirement that denies what breaks it: %d faults in
%d states, %d cells. Beside operator and proxy there is a real checker behind a Service. While a fault lasts, something that the
state's work keeps is disturbed: a webhook configuration is edited, or made where none is to be. Every cell checks that what the
table says is what happens and what the requirement's condition Progressing says; that API servers refuse what is denied meanwhile,
or let it pass where nothing is promised; and that the state and all configurations are as before when the fault is over, and the
operator puts right what is disturbed then.

| Fault |`, len(needFaults()), len(needStages), len(needPlaces()))
	for _, s := range needStages {
		fmt.Fprintf(b, " %s |", s.state)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(needStages)) + "\n")
	var never []nowhere
	for _, f := range needFaults() {
		fmt.Fprintf(b, "| %s |", f.name)
		for _, s := range needStages {
			e := f.expect(s)
			if e.never != "" {
				never = unmet(never, f.name, s.state, e.never)
				e.word = "-"
			}
			fmt.Fprintf(b, " %s |", e.word)
		}
		b.WriteString("\n")
	}
	b.WriteString(`
- **stays**, **stays, tells**, **-**: as above; what is told stands in the requirement's condition Progressing.
- **comes back**: the state is left while a webhook configuration is not as it should be, or because its record is not what the
  cluster says, and the machine finds its way back by itself. Met and Unmet are left so for Arming whenever somebody edits a
  configuration.
- A state: the machine is there while the fault lasts, and finds its way back when it is over. From Degraded and from Open it comes
  back by way of Arming, and from there anew what kept it there before leads on.

How the states are reached and held:

`)
	for _, s := range needStages {
		fmt.Fprintf(b, "- **%s**: %s.\n", s.state, s.how)
	}
	b.WriteString("\nWhat the faults are:\n\n")
	for _, f := range needFaults() {
		fmt.Fprintf(b, "- **%s**: %s\n", f.name, f.doc)
	}
	b.WriteString("\nWhat cannot happen:\n\n")
	for _, n := range never {
		fmt.Fprintf(b, "- %s in %s: %s.\n", n.fault, strings.Join(n.states, ", "), n.why)
	}
	b.WriteString(`
The operator is killed with SIGKILL right after its n-th write and started again, for every n, when one of these things happens. What
was denied before and is denied after is refused at every moment, and the end is the undisturbed one:

`)
	for _, d := range needChanges {
		fmt.Fprintf(b, "- %s.\n", d.what)
	}
}
