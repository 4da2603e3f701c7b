package act

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/capstan-capi/capstan/phases/engine/inventory"
)

// Adopt gives inventories to those of the revisions that have none, so that what only they have can be pruned: it
// looks for their objects by label and revision annotation among all kinds that the API server serves, and lists those
// that are proved to be this installation's or its predecessor's. It is safe to repeat, and sends nothing when none is
// missing and no inventory has gaps. Call it before anything is pruned, and again after an error.
//
// API groups that do not answer, or that the operator may not list, leave gaps, and so do Namespaces if inventories list more
// than are looked through: what was found is listed, and the inventory says what was not looked through. Teardown does not
// end before other calls have looked through all of it.
func (e *Engine) Adopt(ctx context.Context, revs ...inventory.RevisionRef) error {
	open, gaps, err := e.unlisted(revs)
	if err != nil || len(open) == 0 {
		return err
	}
	announced, err := e.cluster.Reader.DiscoverAll(ctx)
	if err != nil {
		return fmt.Errorf("adopting revisions: %w", err)
	}
	sweep := e.newSweep(announced, gaps.Silent)
	if len(gaps.Silent) > 0 {
		if _, err := sweep.find(ctx, gaps.Silent); err != nil {
			return fmt.Errorf("filling gaps of adopted revisions: %w", err)
		}
	}
	if !sweep.fillsSome(gaps) && !e.lacksInventory(open) {
		return nil
	}
	found, err := sweep.find(ctx, nil)
	if err != nil {
		return fmt.Errorf("adopting revisions: %w", err)
	}
	if e.lacksInventory(open) {
		e.cfg.Log.Info("An inventory is rebuilt from what there is of the cluster and in these namespaces; what its revision had elsewhere is found by its label",
			"namespaces", sweep.namespaces, "label", e.us.Selector())
	}
	ours, strays := inventory.Sift(found, sweep.evidence())
	for _, stray := range strays {
		e.cfg.Log.Info("An object has the marks of a revision, and nothing proves that it is of it: it is left alone",
			"object", stray.Key.String(), "revision", stray.Number)
	}
	for _, rev := range open {
		inv := inventory.Rebuild(rev, ours)
		inv.Silent, inv.Unsearched = slices.Sorted(maps.Keys(sweep.silent)), sweep.unsearched
		if s, found := e.storedOf(rev.Number); found && s.Inventory != nil {
			inv.Unite(s.Inventory)
		}
		if err := e.store(ctx, inv); err != nil {
			return fmt.Errorf("adopting revision %s: %w", rev.Name, err)
		}
	}
	for _, f := range ours {
		strays = append(strays, f.Stray())
	}
	e.sweptStrays(announced, strays) // what is listed by now is none
	return nil
}

// unlisted are the revisions that have no inventory, and those that have one with gaps; and these gaps.
func (e *Engine) unlisted(revs []inventory.RevisionRef) (open []inventory.RevisionRef, gaps inventory.Gaps, err error) {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	if !e.seesInventoriesLocked() {
		return nil, gaps, fmt.Errorf("adopting revisions: %w", errNotSeen)
	}
	stored := e.storedLocked()
	gaps = inventory.GapsIn(stored)
	return append(inventory.Missing(stored, revs), gaps.With...), gaps, nil
}

// lacksInventory says that one of the revisions has none.
func (e *Engine) lacksInventory(revs []inventory.RevisionRef) bool {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	return len(inventory.Missing(e.storedLocked(), revs)) > 0
}
