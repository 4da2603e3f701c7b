package engine

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
)

// Orphan is one object that older revisions had and the kept one has not, and what became of it.
type Orphan struct {
	Key        decide.Key
	Component  string
	Action     decide.Action // Deleted, Absent, HandedOver, Foreign, Orphaned, Retained, Terminating, Pending or Failed
	Why        string
	Count      int64    // of what is retained or goes by consent: objects that it holds, 0 if that cannot be told
	Finalizers []string // of Terminating: what has to be taken off by others before it is gone
	Consented  bool     // goes, or went, with what it holds, because the administrator consented

	Entry inventory.Entry // as it is listed
	Err   error           // why it is not deleted yet, when something went wrong
}

// TeardownReport is where the removal of orphans stands.
type TeardownReport struct {
	Gone     []Orphan // not in the cluster any more
	Waiting  []Orphan // being deleted, failed to be deleted, or their turn has not come
	Retained []Orphan // not deleted, because they hold data of users
	Left     []Orphan // not deleted, because they are not this installation's any more; see Action
	Wait     string   // why nothing was looked at yet
}

// pruneMemory is what is remembered of the orphans of a revision that stays, by identity. Those that were seen to go are
// not looked for again: nothing brings them back.
type pruneMemory struct {
	mu      sync.Mutex
	gone    map[decide.Key]decide.Action
	consent map[decide.Key]bool // whose data goes, or went, by consent
}

func (p *pruneMemory) of(key decide.Key) (gone decide.Action, consented bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gone[key.Identity()], p.consent[key.Identity()]
}

func (p *pruneMemory) note(key decide.Key, gone decide.Action, consented bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone == nil {
		p.gone, p.consent = map[decide.Key]decide.Action{}, map[decide.Key]bool{}
	}
	if gone != "" {
		p.gone[key.Identity()] = gone
	}
	if consented {
		p.consent[key.Identity()] = true
	}
}

// add sorts an orphan into the report, and remembers what is gone: nothing of the kept revision brings it back.
func (r *TeardownReport) add(o Orphan, keep *plan) {
	switch o.Action {
	case decide.Deleted, decide.Absent:
		keep.pruneMemory.note(o.Key, o.Action, o.Consented)
		r.Gone = append(r.Gone, o)
	case decide.Retained:
		r.Retained = append(r.Retained, o)
	case decide.HandedOver, decide.Foreign, decide.Orphaned:
		r.Left = append(r.Left, o)
	default:
		r.Waiting = append(r.Waiting, o)
	}
}

// Complete says that nothing is left to do but what is retained.
func (r *TeardownReport) Complete() bool { return r.Wait == "" && len(r.Waiting) == 0 }

// Blocked is the one most useful reason why pruning is not complete, at most 1 KiB; empty when it is.
func (r *TeardownReport) Blocked() string {
	switch {
	case r.Wait != "":
		return clipped(r.Wait)
	case len(r.Waiting) == 0:
		return ""
	}
	first := r.Waiting[0]
	if failed := slices.IndexFunc(r.Waiting, func(o Orphan) bool { return o.Err != nil }); failed >= 0 {
		first = r.Waiting[failed]
	}
	more := ""
	if len(r.Waiting) > 1 {
		more = " (and " + strconv.Itoa(len(r.Waiting)-1) + " more)"
	}
	text := "pruning waits for " + first.Key.String() + " of " + first.Component + ": " + first.Why
	return message.Shorten(text, maxBlocked-len(more)) + more
}

// WhyRetained says in one sentence what was retained and why, empty if nothing was; at most 1 KiB.
func (r *TeardownReport) WhyRetained() string {
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
func (r *TeardownReport) Progress() string {
	return strconv.Itoa(len(r.Gone)+len(r.Left)+len(r.Retained)) + " handled, " + strconv.Itoa(len(r.Waiting)) + " to go"
}

// Err joins what went wrong with single objects.
func (r *TeardownReport) Err() error {
	var errs []error
	for _, o := range r.Waiting {
		if o.Err != nil {
			errs = append(errs, o.Err)
		}
	}
	return joined(errs)
}

// Orphans is what the stored inventories say about older revisions, without a request.
type Orphans struct {
	Seen      bool         // false: the inventories are not seen yet, and the rest is empty
	Revisions []int64      // older revisions whose inventory is still stored: Teardown and Forget have work
	Open      []decide.Key // objects of those that the kept revision does not have
	Retained  []decide.Key // objects that were retained earlier and are to be deleted when they hold nothing any more
}

// Orphans looks up what Teardown would have to look at.
func (e *Engine) Orphans(keep *decide.Revision) Orphans {
	p, err := e.plan(keep)
	if err != nil {
		return Orphans{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	o := Orphans{Seen: e.inventories != nil && e.inventories.synced}
	entries, _ := e.orphans(p)
	for _, orphan := range entries {
		if orphan.Listed.Retained {
			o.Retained = append(o.Retained, orphan.Key)
		} else {
			o.Open = append(o.Open, orphan.Key)
		}
	}
	for _, s := range e.storedLocked() {
		if s.Number < keep.Number {
			o.Revisions = append(o.Revisions, s.Number)
		}
	}
	return o
}

// orphanCache is the answer of orphans for as long as no inventory changes.
type orphanCache struct {
	inventoryChanges int // what Engine.booked was
	entries          []inventory.Candidate
	err              error
}

// orphans are the candidates for pruning when the revision of a plan stays. They are worked out when an inventory or the
// revisions changed, and shared until then. The engine's lock is held.
func (e *Engine) orphans(p *plan) ([]inventory.Candidate, error) {
	if p.orphaned == nil || p.orphaned.inventoryChanges != e.inventoryChanges {
		found, err := inventory.Candidates(e.storedLocked(), e.currentLocked(p))
		p.orphaned = &orphanCache{inventoryChanges: e.inventoryChanges, entries: found, err: err}
	}
	return p.orphaned.entries, p.orphaned.err
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
	return inventory.Current{Number: p.rev.Number, Unmanaged: set(p.rev.Unmanaged), Live: live}
}
