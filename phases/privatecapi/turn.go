package privatecapi

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// turn is which HostedCluster may be moved next: the one that was refused least recently, and of those the oldest.
func (p *Pass) turn(programme *unstructured.Unstructured, clusters []*unstructured.Unstructured) guards.Turn {
	if programme == nil || p.facts.Programme.Paused {
		return guards.Turn{Known: true}
	}
	var may []*unstructured.Unstructured
	refused := map[machine.Key]time.Time{}
	for _, o := range clusters {
		m := guards.MarksOf(o.GetAnnotations())
		if m.Locked() {
			return guards.Turn{Known: true, Of: string(KeyOf(o)), Ours: KeyOf(o) == p.Key}
		}
		by := m.Owner().By
		moves := by == guards.Legacy && m.Failed == "" || by == guards.New && m.Revert && p.facts.Programme.OldOperatorNeeded
		if moves && !m.Paused && o.GetDeletionTimestamp() == nil {
			may = append(may, o)
			refused[KeyOf(o)] = p.memory.of(KeyOf(o), nil).refused
		}
	}
	if len(may) == 0 {
		return guards.Turn{Known: true}
	}
	first := slices.MinFunc(may, func(a, b *unstructured.Unstructured) int {
		created := func(o *unstructured.Unstructured) time.Time { return o.GetCreationTimestamp().Time }
		return cmp.Or(refused[KeyOf(a)].Compare(refused[KeyOf(b)]), created(a).Compare(created(b)), cmp.Compare(KeyOf(a), KeyOf(b)))
	})
	return guards.Turn{Known: true, Of: string(KeyOf(first)), Ours: KeyOf(first) == p.Key}
}

// checked is what came of the checks of the present state, if they were made.
func (p *Pass) checked() guards.Checks {
	r := p.memory.of(p.Key, nil)
	if r.checks.Known && r.checkedFor.Equal(p.record.Since) {
		return r.checks
	}
	return guards.Checks{}
}
