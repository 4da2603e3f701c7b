package act

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/report"
)

// Teardown deletes what older revisions applied and current does not have, in the reverse order of installation: a step
// begins when the objects of the one before are gone. It works from the inventories. It reads from the API server what the
// watches do not show, because an object that lost its label has to be deleted as well. It refuses to start before all of
// current is applied. What holds users' data is retained, which is no error, unless the administrator consented to lose
// exactly that: then it is deleted with its data. Every pass looks at all orphans again, except those
// that it saw go; and at those too before it says that all are gone.
func (e *Engine) Teardown(ctx context.Context, current *decide.Revision, options TeardownOptions) (*report.TeardownReport, error) {
	done := &report.TeardownReport{}
	p, err := e.plan(current)
	if err != nil {
		done.Wait = "pruning waits: " + err.Error()
		return done, err
	}
	p.pass.Lock()
	defer p.pass.Unlock()
	if look := e.lookPlan(p); !look.Applied() {
		done.Wait = "pruning waits for revision " + current.Name + " to be applied: " + look.Blocked()
		return done, nil
	}
	e.cluster.Lock()
	entries, err := e.orphansLocked(p)
	done.Wait = e.waitsForGapsLocked(current.Number)
	e.cluster.Unlock()
	if err != nil {
		done.Wait = "pruning waits for its inventories: " + err.Error()
		return done, err
	}
	pass := &prunePass{e: e, keep: p, consents: options.Consents, losing: options.Losing, stands: options.Stands, onlyLook: options.OnlyLook}
	pass.remember(options.Lost)
	entries, gone := pass.seenToGo(entries)
	if pass.through(ctx, entries, done); done.Complete() { // what was seen to go may be back: the API server may have been restored
		pass.through(ctx, gone, done)
	} else {
		pass.leave(gone, done)
	}
	return done, done.Err()
}

// waitsForGapsLocked says why the inventories before a number may lack objects, and what to do about that; empty if they do
// not. The cluster's lock is held.
func (e *Engine) waitsForGapsLocked(number int64) string {
	gaps := inventory.GapsBefore(e.storedLocked(), number)
	switch {
	case gaps.Unsearched: // first, since no group that answers ends it
		return fmt.Sprintf("pruning waits because inventories list more Namespaces than the %d that are looked through for objects of older revisions; delete the ConfigMaps in namespace %s with label %s that are inventories of no revision of yours",
			listedNamespacesAtMost, e.cfg.Namespace, decide.InventoryLabel)
	case len(gaps.Silent) > 0:
		return "pruning waits for API groups that may have objects of older revisions and do not answer, or may not be listed: " + strings.Join(gaps.Silent, ", ") + "; repair or remove their APIServices, or give the operator the verb list on them"
	}
	return ""
}

// through removes step by step what may go, until objects of a step have to be waited for.
func (r *prunePass) through(ctx context.Context, entries []inventory.Candidate, done *report.TeardownReport) {
	first, entries := r.withData(ctx, entries)
	r.step(ctx, first, done)
	if r.onlyLook {
		r.step(ctx, entries, done) // nothing is deleted, so nothing has to go before anything else
		return
	}
	for len(entries) > 0 && len(done.Waiting) == 0 {
		size := slices.IndexFunc(entries, func(x inventory.Candidate) bool { return !x.SameStep(entries[0].Candidate) })
		if size < 0 {
			size = len(entries)
		}
		r.step(ctx, entries[:size], done)
		entries = entries[size:]
	}
	r.leave(entries, done)
}

// leave reports what is not looked at in this pass.
func (r *prunePass) leave(entries []inventory.Candidate, done *report.TeardownReport) {
	for _, c := range entries {
		o := orphanOf(c)
		gone, lost := r.keep.pruneMemory.of(o.Key)
		if o.Action, o.Consented = gone, lost.going; gone == "" {
			o.Action, o.Why = decide.Pending, "its turn comes after the others"
		}
		done.Add(o)
	}
}

// seenToGo parts from the entries what earlier passes saw go.
func (r *prunePass) seenToGo(entries []inventory.Candidate) (rest, gone []inventory.Candidate) {
	for _, c := range entries {
		if went, _ := r.keep.pruneMemory.of(c.Key); went != "" {
			gone = append(gone, c)
		} else {
			rest = append(rest, c)
		}
	}
	return rest, gone
}

// Forget ends a finished Teardown. It lists what was retained with the current revision, so that it is deleted once it
// holds nothing, and then deletes the older inventories. It writes nothing when there is nothing to forget.
func (e *Engine) Forget(ctx context.Context, keep *decide.Revision, done *report.TeardownReport) error {
	if !done.Complete() {
		return fmt.Errorf("forgetting revisions older than %s: %s", keep.Name, done.Blocked())
	}
	p, err := e.plan(keep)
	if err != nil {
		return fmt.Errorf("forgetting revisions older than %s: %w", keep.Name, err)
	}
	p.pass.Lock()
	defer p.pass.Unlock()
	if !e.Orphans(keep).Seen {
		return fmt.Errorf("forgetting revisions older than %s: %w", keep.Name, errNotSeen)
	}
	inv := e.inventoryOf(p)
	for _, o := range done.Retained {
		o.Entry.Retained = true
		inv.Entries = append(inv.Entries, o.Entry)
	}
	s, found := e.storedOf(keep.Number)
	if found {
		if err := s.SameContent(keep); err != nil {
			return err
		}
	}
	if !found || s.Inventory == nil || !slices.Equal(s.Inventory.Retained(), inv.Retained()) {
		if err := e.store(ctx, inv); err != nil {
			return err
		}
	}
	e.cluster.Lock()
	older := slices.DeleteFunc(e.storedLocked(), func(s inventory.Stored) bool { return s.Number >= keep.Number })
	e.cluster.Unlock()
	for _, s := range older {
		if err := e.discard(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
