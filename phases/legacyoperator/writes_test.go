package legacyoperator

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine/machinetest"
	"github.com/capstan-capi/capstan/phases/phasestest"
)

func TestWorks_write_all_that_they_name_and_nothing_else(t *testing.T) {
	var counter phasestest.Counter
	var l machinetest.Ledger[Works]
	h := newHouse("1h", oldOperator())
	h.Client = counter.Watch(h.Client.(client.WithWatch))
	keep, remove := l.Note(KeepOperator, counter.Written), l.Note(RemoveOperator, counter.Written)
	h.work(t, keep)
	h.work(t, remove)
	h.others = []string{"clusters/a has a failed move"}
	h.work(t, keep)
	if d := h.operator(t); *d.Spec.Replicas != 2 {
		t.Errorf("it has %d replicas", *d.Spec.Replicas)
	}
	l.Whole(t, "../../docs/state-diagrams/legacyoperator.md", KeepOperator, RemoveOperator)
}
