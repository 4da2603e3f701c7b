package faults_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheMatrixOfBootImagesSpeaksOfEveryCell(t *testing.T) {
	names := map[string]bool{}
	for _, f := range bootFaults() {
		if names[f.name] || !strings.HasSuffix(f.doc, ".") {
			t.Errorf("fault %q has no name of its own, or no sentence", f.name)
		}
		names[f.name] = true
		for _, s := range bootStages {
			if e := f.expect(s); (e.never == "") == (e.word == "") {
				t.Errorf("of %q in %s it is not said what is to happen, or why it cannot meet it", f.name, s.state)
			}
		}
	}
}

// writeBootImages is the part of the document that is about the machines bootimage and bootgate.
func writeBootImages(b *strings.Builder) {
	fmt.Fprintf(b, `
## The machines bootimage and bootgate

The same for the [target](state-diagrams/bootimage.md) of a MachineSet of the Cluster API on AWS, whose boot image is moved by a clone
of its template, in each working state and in Current, and for the working states of the [gate](state-diagrams/bootgate.md): %d faults in
%d states, %d cells. Each cell begins where the target is Current, lets the next release come, holds the state that this leads to, and
lets go of it when the fault is there. Every cell checks that what the table says is what happens and what people are told; that the
target has the image that gate and state leave it meanwhile; and that everything ends as without the fault: the target is Current, and
the writes that the API server has taken are one of the Secret at most, one clone and one of the target, beside those that undo what
somebody did. One clone is left, and a fault costs one attempt more at most, beside those at what somebody has put back.

| Fault |`, len(bootFaults()), len(bootStages), len(bootPlaces()))
	for _, s := range bootStages {
		fmt.Fprintf(b, " %s |", s.state)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(bootStages)) + "\n")
	var never []nowhere
	for _, f := range bootFaults() {
		fmt.Fprintf(b, "| %s |", f.name)
		for _, s := range bootStages {
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
- **stays**, **-**: as above.
- **stays, tells**: the state is kept while the fault lasts, and the ClusterOperator or the MachineConfiguration tells what is wrong: in a
  condition, or in what ` + "`capstan status`" + ` shows of a target.
- **goes on**: the state is left as without the fault.
- **comes back**: somebody gives the target its first template back while the fault is there, or edits the status of the
  MachineConfiguration, and the machine puts it right.
- A state: the machine is there while the fault lasts, and goes on by itself when it is over.

How the states are reached and held:

`)
	for _, s := range bootStages {
		fmt.Fprintf(b, "- **%s**: %s.\n", s.state, s.how)
	}
	b.WriteString("\nWhat the faults are:\n\n")
	for _, f := range bootFaults() {
		fmt.Fprintf(b, "- **%s**: %s\n", f.name, f.doc)
	}
	b.WriteString("\nWhat cannot happen:\n\n")
	for _, n := range never {
		fmt.Fprintf(b, "- %s in %s: %s.\n", n.fault, strings.Join(n.states, ", "), n.why)
	}
	b.WriteString(`
The operator is killed with SIGKILL right after its n-th write and started again, for every n, when one of these things happens: records,
Secret, clone, target, status, known images and the deletion of the clone before are all among those writes. The end is the undisturbed
one: one clone, one write of the Secret, one of the target, and one attempt more at most:

`)
	for _, d := range bootChanges {
		fmt.Fprintf(b, "- %s.\n", d.what)
	}
}
