package engine

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Orphan is one object that older revisions had and the kept one has not.
type Orphan struct {
	Key        Key
	Component  string
	Why        string
	Count      int64    // of Retained and Consented: objects that it holds
	Finalizers []string // of Waiting: what has to be taken off by others before it is gone
	Consented  bool     // is being deleted with what it holds, or is gone with it, because the administrator consented

	entry entry
	err   error
}

// PruneReport is where the removal of orphans stands.
type PruneReport struct {
	Gone       []Orphan // not in the cluster any more
	Waiting    []Orphan // being deleted, failed to be deleted, or their turn has not come
	Retained   []Orphan // not deleted, because they hold data of users
	Left       []Orphan // not deleted, because they are not this installation's any more
	RetryAfter time.Duration

	wait string
}

// Complete says that nothing is left to do but what is retained.
func (r *PruneReport) Complete() bool { return r.wait == "" && len(r.Waiting) == 0 }

// Blocked is the one most useful reason why pruning is not complete, at most 1 KiB; empty when it is.
func (r *PruneReport) Blocked() string {
	switch {
	case r.wait != "":
		return clipped(r.wait)
	case len(r.Waiting) == 0:
		return ""
	}
	first := r.Waiting[0]
	if failed := slices.IndexFunc(r.Waiting, func(o Orphan) bool { return o.err != nil }); failed >= 0 {
		first = r.Waiting[failed]
	}
	more := ""
	if len(r.Waiting) > 1 {
		more = " (and " + strconv.Itoa(len(r.Waiting)-1) + " more)"
	}
	text := "pruning waits for " + first.Key.String() + " of " + first.Component + ": " + first.Why
	return clippedTo(text, maxBlocked-len(more)) + more
}

// Held says in one sentence what was retained and why, empty if nothing was; at most 1 KiB.
func (r *PruneReport) Held() string {
	texts := make([]string, 0, len(r.Retained))
	for _, o := range r.Retained {
		texts = append(texts, o.Key.String()+" ("+o.Why+")")
	}
	if len(texts) == 0 {
		return ""
	}
	return clipped("retained: " + strings.Join(texts, ", "))
}

// Progress is a token that changes when objects went or began to go.
func (r *PruneReport) Progress() string {
	return strconv.Itoa(len(r.Gone)+len(r.Left)+len(r.Retained)) + " handled, " + strconv.Itoa(len(r.Waiting)) + " to go"
}

// Err joins what went wrong with single objects.
func (r *PruneReport) Err() error {
	var errs []error
	for _, o := range r.Waiting {
		if o.err != nil {
			errs = append(errs, o.err)
		}
	}
	return joined(errs)
}

// Orphans is what the stored inventories say about older revisions, without a request.
type Orphans struct {
	Seen      bool    // false: the inventories are not seen yet, and the rest is empty
	Revisions []int64 // older revisions whose inventory is still stored: Prune and Forget have work
	Open      []Key   // objects of those that the kept revision does not have
	Retained  []Key   // objects that were retained earlier and are to be deleted when they hold nothing any more
}

// Orphans looks up what Prune would have to look at.
func (e *Engine) Orphans(keep *Revision) Orphans {
	p := e.plan(keep)
	e.mu.Lock()
	defer e.mu.Unlock()
	o := Orphans{Seen: e.inventories != nil && e.inventories.synced}
	entries, _ := e.orphans(p)
	for _, orphan := range entries {
		if orphan.Retained {
			o.Retained = append(o.Retained, orphan.key())
		} else {
			o.Open = append(o.Open, orphan.key())
		}
	}
	for _, s := range e.storedLocked() {
		if s.number < keep.Number {
			o.Revisions = append(o.Revisions, s.number)
		}
	}
	return o
}

// orphans are the entries of the inventories up to the kept revision that neither it nor a newer one has, in order of
// removal. An inventory that cannot be read is an error: what it lists would be lost from sight. It is worked out when
// an inventory changed, and shared until then. The engine's lock is held.
func (e *Engine) orphans(p *plan) ([]entry, error) {
	if p.orphaned == nil || p.orphaned.booked != e.booked {
		found, err := e.findOrphans(p)
		p.orphaned = &orphaned{booked: e.booked, entries: found, err: err}
	}
	return p.orphaned.entries, p.orphaned.err
}

// orphaned is the answer of orphans for as long as no inventory changes.
type orphaned struct {
	booked  int // what Engine.booked was
	entries []entry
	err     error
}

func (e *Engine) findOrphans(p *plan) ([]entry, error) {
	stored := e.storedLocked()
	unmanaged := set(p.rev.Unmanaged)
	live := map[Key]bool{}
	for key := range p.keys {
		live[key] = true
	}
	var errs []error
	for _, s := range stored {
		if s.inventory == nil {
			errs = append(errs, s.err)
		} else if s.number > p.rev.Number {
			for _, entry := range s.inventory.Entries {
				live[entry.key().identity()] = live[entry.key().identity()] || !entry.Retained
			}
		}
	}
	var found []entry
	for _, s := range slices.Backward(stored) { // the newest inventory knows an object best
		if s.inventory == nil || s.number > p.rev.Number {
			continue
		}
		for _, entry := range s.inventory.Entries {
			id := entry.key().identity()
			if live[id] || s.number == p.rev.Number && !entry.Retained || id.isCRD() && unmanaged[id.Name] {
				continue
			}
			live[id] = true
			found = append(found, entry)
		}
	}
	slices.SortFunc(found, entry.before)
	return found, errors.Join(errs...)
}
