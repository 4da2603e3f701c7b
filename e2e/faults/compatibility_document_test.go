package faults_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheMatrixOfCompatibilitySpeaksOfEveryCell(t *testing.T) {
	needGrid().speaks(t)
}

// needGrid is the matrix as people read it.
func needGrid() grid {
	return gridOf(needStages, func(s *needStage) described { return described{s.state, s.how} },
		needFaults(), func(f needFault) (described, func(*needStage) outcome) {
			return described{f.name, f.doc}, func(s *needStage) outcome { e := f.expect(s); return outcome{e.word, e.never} }
		})
}

// writeNeeds is the part of the document that is about the machine compatibility.
func writeNeeds(b *strings.Builder) {
	g := needGrid()
	fmt.Fprintf(b, `
## The machine compatibility

The same for the [machine](state-diagrams/compatibility.md) of a CompatibilityRequirement that denies what breaks it: %d faults in
%d states, %d cells. Beside operator and proxy there is a real checker behind a Service. While a fault lasts, something that the
state's work keeps is disturbed: a webhook configuration is edited, or made where none is to be. Every cell checks that what the
table says is what happens and what the requirement's condition Progressing says; that API servers refuse what is denied meanwhile,
or let it pass where nothing is promised; and that the state and all configurations are as before when the fault is over, and the
operator puts right what is disturbed then.

`, len(needFaults()), len(needStages), len(needPlaces()))
	g.writeTable(b)
	b.WriteString(`
- **stays**, **stays, tells**, **-**: as above; what is told stands in the requirement's condition Progressing.
- **comes back**: the state is left while a webhook configuration is not as it should be, or because its record is not what the
  cluster says, and the machine finds its way back by itself. Met and Unmet are left so for Arming whenever somebody edits a
  configuration.
- A state: the machine is there while the fault lasts, and finds its way back when it is over. From Degraded and from Open it comes
  back by way of Arming, and from there anew what kept it there before leads on.

How the states are reached and held:

`)
	g.writeStates(b)
	b.WriteString("\nWhat the faults are:\n\n")
	g.writeFaults(b)
	b.WriteString("\nWhat cannot happen:\n\n")
	g.writeNever(b)
	b.WriteString(`
The operator is killed with SIGKILL right after its n-th write and started again, for every n, when one of these things happens. What
was denied before and is denied after is refused at every moment, and the end is the undisturbed one:

`)
	for _, d := range needChanges {
		fmt.Fprintf(b, "- %s.\n", d.what)
	}
}
