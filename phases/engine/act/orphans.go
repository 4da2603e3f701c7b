package act

import (
	"cmp"
	"slices"
	"sync"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/report"
)

// pruneMemory is what is remembered of the orphans of a revision that stays, by identity. Those that were seen to go are
// not looked for again until all have gone: only an API server that was restored from a backup brings them back.
type pruneMemory struct {
	mu   sync.Mutex
	gone map[decide.Key]decide.Action
	lost map[decide.Key]loss
}

// of says what has become of an orphan, empty as long as it is not gone, and what is lost by a consent.
func (p *pruneMemory) of(key decide.Key) (gone decide.Action, lost loss) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gone[key.Identity()], p.lost[key.Identity()]
}

func (p *pruneMemory) note(key decide.Key, gone decide.Action) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone == nil {
		p.gone = map[decide.Key]decide.Action{}
	}
	p.gone[key.Identity()] = gone
}

// lose notes what is lost by a consent.
func (p *pruneMemory) lose(key decide.Key, lost loss) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost == nil {
		p.lost = map[decide.Key]loss{}
	}
	p.lost[key.Identity()] = lost
}

// forget ends that an orphan counts as gone, and says what had become of it.
func (p *pruneMemory) forget(key decide.Key) decide.Action {
	p.mu.Lock()
	defer p.mu.Unlock()
	gone := p.gone[key.Identity()]
	delete(p.gone, key.Identity())
	return gone
}

// Orphans looks up what Teardown would have to look at.
func (e *Engine) Orphans(keep *decide.Revision) report.Orphans {
	p, err := e.plan(keep)
	if err != nil {
		return report.Orphans{}
	}
	e.cluster.Lock()
	defer e.cluster.Unlock()
	o := report.Orphans{Seen: e.seesInventoriesLocked()}
	entries, _ := e.orphansLocked(p)
	for _, orphan := range entries {
		if orphan.Listed.Retained {
			o.Retained = append(o.Retained, orphan.Key)
		} else {
			o.Open = append(o.Open, orphan.Key)
		}
	}
	for _, s := range e.storedLocked() {
		switch {
		case s.Number < keep.Number:
			o.Revisions = append(o.Revisions, s.Number)
		case s.Number > keep.Number && (s.Inventory == nil || !s.Inventory.Announced):
			o.Ahead = s.Number // the highest comes last
		}
	}
	return o
}

// Inventories looks up what the stored inventories list. They are not all seen while one is not read for lack of room that is
// of a listed or watched revision, or may be, as long as nobody has said which revisions are listed.
func (e *Engine) Inventories() report.Inventories {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	found := report.Inventories{Seen: e.seesInventoriesLocked(), Err: e.inventoriesErrLocked()}
	for _, s := range e.storedLocked() {
		if s.LacksRoom() && (e.listedNumbers == nil || slices.Contains(e.numbersAtHandLocked(), s.Number)) {
			found.Seen, found.Err = false, cmp.Or(e.inventoriesErrLocked(), s.Err) // the newest comes last
		}
		if s.Inventory == nil || s.Inventory.Announced {
			continue
		}
		held := report.Held{Number: s.Number}
		for _, entry := range s.Inventory.Entries {
			if !entry.Retained {
				held.Objects = append(held.Objects, report.HeldObject{Key: entry.Key(), Component: entry.Component})
			}
		}
		found.Of = append(found.Of, held)
	}
	return found
}

// Proofs looks up which revisions the stored inventories prove to be listed; those of the listed numbers whether there is room
// for them among all or not. Others that are not read for lack of room may prove more.
func (e *Engine) Proofs(listed ...int64) report.Proofs {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	e.listedNumbers = slices.Concat([]int64{}, listed)
	found := report.Proofs{Seen: e.seesInventoriesLocked(), Err: e.inventoriesErrLocked()}
	for _, s := range e.storedLocked() {
		inv := s.Inventory
		if s.LacksRoom() {
			if slices.Contains(listed, s.Number) {
				inv = e.shelf.Head(s)
			} else {
				found.Seen, found.Err = false, cmp.Or(e.inventoriesErrLocked(), s.Err) // the newest comes last
			}
		}
		if inv != nil {
			found.Of = append(found.Of, report.Proof{
				Number: s.Number, Revision: inv.Revision, ContentID: inv.ContentID, Listed: inv.Listed, Announced: inv.Announced, Own: inv.IsOwn(),
			})
		}
	}
	return found
}

// orphanCache is the answer of orphans for as long as no inventory changes.
type orphanCache struct {
	inventoryChanges int // what Engine.inventoryChanges was
	entries          []inventory.Candidate
	err              error
}

// orphansLocked are the candidates for pruning when the revision of a plan stays. They are worked out when an inventory or the
// revisions changed, and shared until then. The cluster's lock is held.
func (e *Engine) orphansLocked(p *plan) ([]inventory.Candidate, error) {
	if p.dirty.orphaned == nil || p.dirty.orphaned.inventoryChanges != e.inventoryChanges {
		found, err := inventory.Candidates(e.storedLocked(), e.currentLocked(p))
		p.dirty.orphaned = &orphanCache{inventoryChanges: e.inventoryChanges, entries: found, err: err}
	}
	return p.dirty.orphaned.entries, p.dirty.orphaned.err
}

func (e *Engine) currentLocked(p *plan) inventory.Current {
	live := map[decide.Key]string{}
	for _, other := range e.plans {
		if other.rev.Number >= p.rev.Number {
			for key := range other.keys {
				live[key] = other.rev.Name
			}
		}
	}
	for key := range p.keys {
		live[key] = p.rev.Name
	}
	return inventory.Current{Number: p.rev.Number, Unmanaged: set(slices.Concat(p.rev.Unmanaged, e.noted.Unmanaged)), Live: live}
}
