package openshiftcontrolplane_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

//go:generate go test -vet=off . -run TestTheMatrix -update

var update = flag.Bool("update", false, "write "+matrixFile)

// matrixFile is what docs/fault-matrix.md takes in.
const matrixFile = "testdata/matrix.md"

func TestTheMatrixIsWhatIsTried(t *testing.T) {
	want := matrixPage()
	if *update {
		if err := os.WriteFile(matrixFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(matrixFile); err != nil || string(have) != want {
		t.Errorf("%s is not what is tried (%v): run make generate", matrixFile, err)
	}
}

// meets says whether a fault can happen in a state.
func (f fault) meets(s stage) bool {
	return (!f.guest || s.guest) && (!f.kept || s.keeps) && (!f.configs || s.keeps || s.returns) && (!f.unstarted || s.unstarted != "")
}

// cell says what a fault does in a state.
func (f fault) cell(s stage) string {
	switch {
	case !f.meets(s):
		return "-"
	case f.forgets && s.forgotten != "":
		return s.forgotten
	}
	return "stays"
}

// matrixPage is the part of the fault matrix that is about this machine.
func matrixPage() string {
	cells := 0
	for _, f := range faults {
		for _, s := range stages {
			if f.meets(s) {
				cells++
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `
## The machines openshiftcontrolplane and openshiftconfig

The same for the [installation](state-diagrams/openshiftcontrolplane.md) of an OpenShift cluster: %d faults in %d states, %d cells, tried
by %s on a real control plane, with Cluster API's own manager, infrastructure and guests in memory, and a proxy that does harm
between the provider and its API server. A cluster of one control-plane machine, of three in Remediating, is held in a state, and the
faults come one after the other. Every cell checks that the state is kept, or comes back by itself when the fault is over, and that the
same Machines are there. In the end the cluster is let go on, without help: to Installed, or to where the state leads; and it is deleted,
which leaves nothing. The audit log is the witness that each Machine, infrastructure machine and config was made once, and one bootstrap
machine; in Remediating and Clearing, whose work is to make some anew, once more for each time.

`, len(faults), len(stages), cells, "`make test-openshift`")
	b.WriteString("| Fault |")
	for _, s := range stages {
		fmt.Fprintf(&b, " %s |", s.state)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(stages)) + "\n")
	for _, f := range faults {
		fmt.Fprintf(&b, "| %s |", f.name)
		for _, s := range stages {
			fmt.Fprintf(&b, " %s |", f.cell(s))
		}
		b.WriteString("\n")
	}
	b.WriteString(`
- **stays**: the state is kept or comes back, with the same Machines.
- **a state**: marks tell how far an installation has come, and nothing tells how the cluster has come to this state of it. It goes on in
  that one, with the same Machines, and comes to Installed from there as from here.
- **-**: there is no guest that answers in the state, or nothing of it is there yet that could be lost, or is kept any more.

How the states are held:

`)
	for _, s := range stages {
		fmt.Fprintf(&b, "- **%s**: %s.\n", s.state, s.how)
	}
	b.WriteString("\nWhat the faults are:\n\n")
	for _, f := range faults {
		fmt.Fprintf(&b, "- **%s**: %s\n", f.name, f.doc)
	}
	b.WriteString(`
In the same suite the provider is ended by SIGKILL after every few writes of an installation, an upgrade, a change of the number of
machines, a replacement, a clearing and a deletion, once with a second provider beside it: the objects in the end are those of an
undisturbed one, and no attempt has two bootstrap machines. An object of somebody else whose name a cluster is about to take is told and
left as it is: the cluster is Failed, and goes on ten minutes after the object is gone, or at once by annotation
capstan.openshift.io/retry. Infrastructure that is refused to a new cluster, or to one that is to grow, is told by the words of whoever
refuses it, and is there as soon as it is to be had. The machine openshiftconfig has no columns of its own. Its configs go their way while
these clusters do, and it has its [stories](../machine/openshiftconfig/testdata).
`)
	return b.String()
}
