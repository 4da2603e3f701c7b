package privatecapi

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/machine"
)

// AddSecondOwners has the copies own what their sources own, and has each source say that it has a copy. Of which kinds that is, is in
// the journal before it is so; a journal that was lost stays lost, see [journal].
func (p *Pass) AddSecondOwners(ctx context.Context) (machine.Result, error) {
	if p.journal.Move != "" && !p.lacksLock() {
		if j := p.journal; j.owns(p.dependents) {
			return p.note(ctx, j, "noted what belongs to the objects")
		}
	}
	return p.send(ctx, "adding second owners", append(secondOwners(p.dependents, p.sides, false), p.sides.copiedNotes()...)...)
}

// secondOwners are the writes that give each dependent of a side the counterparts of its owners as well.
func secondOwners(all []Dependent, s *sides, back bool) []*Write {
	from, counterparts := s.source, s.copied
	if back {
		from, counterparts = s.source.Other(), s.uncopied
	}
	var plan []*Write
	for _, d := range all {
		with, _ := withSecondOwners(owners(d.Object), from, counterparts)
		plan = append(plan, d.ownerPatch(with))
	}
	return plan
}

// onlyOwners are the writes that take from each dependent its owners on a side that goes. One that came late is given the
// counterparts of its owners at the same time.
func onlyOwners(all []Dependent, gone Side, counterparts map[types.UID]types.UID) []*Write {
	var plan []*Write
	for _, d := range all {
		with, _ := withSecondOwners(owners(d.Object), gone, counterparts)
		plan = append(plan, d.ownerPatch(withoutOwnersOn(with, gone, counterparts)))
	}
	return plan
}
