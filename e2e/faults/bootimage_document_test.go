package faults_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheMatrixOfBootImagesSpeaksOfEveryCell(t *testing.T) {
	bootGrid().speaks(t)
}

// bootGrid is the matrix as people read it.
func bootGrid() grid {
	return gridOf(bootStages, func(s *bootStage) described { return described{s.state, s.how} },
		bootFaults(), func(f bootFault) (described, func(*bootStage) outcome) {
			return described{f.name, f.doc}, func(s *bootStage) outcome { e := f.expect(s); return outcome{e.word, e.never} }
		})
}

// writeBootImages is the part of the document that is about the machines bootimage and bootgate.
func writeBootImages(b *strings.Builder) {
	g := bootGrid()
	fmt.Fprintf(b, `
## The machines bootimage and bootgate

The same for the [target](state-diagrams/bootimage.md) of a MachineSet of the Cluster API on AWS, whose boot image is moved by a clone
of its template, in each working state and in Current, and for the working states of the [gate](state-diagrams/bootgate.md): %d faults in
%d states, %d cells. What other targets take is among the writes of this one, which are the most. Each cell begins where the target
is Current, lets the next release come, holds the state that this leads to, and lets go of it when the fault is there. Every cell checks that what the table says is what happens and what people are told; that the
target has the image that gate and state leave it meanwhile; and that everything ends as without the fault: the target is Current, and
the writes that the API server has taken are one of the Secret at most, one clone and one of the target, beside those that undo what
somebody did. One clone is left, and a fault costs one attempt more at most, beside those at what somebody has put back.

`, len(bootFaults()), len(bootStages), len(bootPlaces()))
	g.writeTable(b)
	b.WriteString(`
- **stays**, **-**: as above.
- **stays, tells**: the state is kept while the fault lasts, and the ClusterOperator or the MachineConfiguration tells what is wrong: in a
  condition, or in what ` + "`capstan status`" + ` shows of a target.
- **goes on**: the state is left as without the fault.
- **comes back**: somebody gives the target its first template back while the fault is there, or edits the status of the
  MachineConfiguration, and the machine puts it right.
- A state: the machine is there while the fault lasts, and goes on by itself when it is over.

How the states are reached and held:

`)
	g.writeStates(b)
	b.WriteString("\nWhat the faults are:\n\n")
	g.writeFaults(b)
	b.WriteString("\nWhat cannot happen:\n\n")
	g.writeNever(b)
	b.WriteString(`
The operator is killed with SIGKILL right after its n-th write and started again, for every n, when one of these things happens: records,
Secret, clone, target, status, known images and the deletion of the clone before are all among those writes. The end is the undisturbed
one: one clone, one write of the Secret, one of the target, and one attempt more at most:

`)
	for _, d := range bootChanges {
		fmt.Fprintf(b, "- %s.\n", d.what)
	}
}
