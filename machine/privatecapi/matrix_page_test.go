package privatecapi_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

//go:generate go test -vet=off . -run TestTheMatrix -update

// matrixFile is what docs/fault-matrix.md takes in.
const matrixFile = "testdata/matrix.md"

func TestTheMatrixIsWhatIsTried(t *testing.T) {
	want := matrixPage()
	if flag.Lookup("update").Value.String() == "true" { // machinetest's
		if err := os.WriteFile(matrixFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(matrixFile); err != nil || string(have) != want {
		t.Errorf("%s is not what is tried (%v): run make generate", matrixFile, err)
	}
}

// matrixPage is the part of the fault matrix that is about this machine.
func matrixPage() string {
	var b strings.Builder
	fmt.Fprintf(&b, `
## The machine privatecapi

The same for the [move](state-diagrams/privatecapi.md) of a HostedCluster, **in a simulated world**: API server, garbage collector,
components, cloud and clock are in memory, and the machine is the real one from its table to its writes. %d faults in %d states, %d cells,
tried by %s. Each fault comes when the machine has just come to the state, before it has worked there; the states from Repausing on are
those of a move that is being undone since its record was lost in Observing. The matrix says how the move ends. Every cell checks that it
comes to rest there by itself, that no object is lost, and that nothing in the cloud is made or deleted.

`, len(hazards), len(columns()), len(hazards)*len(columns()), "`make unit`")
	b.WriteString("| Fault |")
	for _, c := range columns() {
		fmt.Fprintf(&b, " %s |", c.state)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(columns())) + "\n")
	for _, h := range hazards {
		fmt.Fprintf(&b, "| %s |", h.name)
		for _, c := range columns() {
			fmt.Fprintf(&b, " %s |", h.expect(c))
		}
		b.WriteString("\n")
	}
	b.WriteString(`
- **moved**: the HostedCluster has private types.
- **undone**: it has the standard types, as before, and annotation migration-failed says why.
- **gone**: what is under way is undone, or comes to its end where it is committed, and the HostedCluster goes when its operator lets it.
- **Ambiguous**: the machine rests there, since both sides have objects, and somebody has to look.

What the faults are:

`)
	for _, h := range hazards {
		fmt.Fprintf(&b, "- **%s**: %s\n", h.name, h.doc)
	}
	b.WriteString(`
In the same world the process ends at each write of a move, and of one that is undone from Rewiring and from Observing, and the answer to
every fourth is lost: the end is the undisturbed one. Records are forged, and locks are taken away by halves. The machine legacyoperator
makes two writes, and has its [stories](../machine/legacyoperator/testdata) in place of a matrix.
`)
	return b.String()
}
