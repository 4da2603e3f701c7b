package history

import "slices"

// Consent notes that a consent was used for a revision, by its name.
func (k *Keeper) Consent(revision, consent string) {
	k.noteOf(revision, func(r *Revision) {
		if !slices.Contains(r.Consents, consent) {
			r.Consents = append(slices.Clone(r.Consents), consent)
		}
	})
}

// Send notes that a deletion by a consent is about to be sent for a revision. The process that sends it may end before it says so.
func (k *Keeper) Send(revision, deletion string) {
	k.noteOf(revision, func(r *Revision) {
		if !slices.Contains(r.Sent, deletion) {
			r.Sent = append(slices.Clone(r.Sent), deletion)
		}
	})
}

// Settle notes what has come of all that was sent for revisions, but for what is open still.
func (k *Keeper) Settle(open func(deletion string) bool) {
	k.Note(func(h *History) {
		for i := range h.Revisions {
			r := &h.Revisions[i]
			r.Sent = slices.DeleteFunc(slices.Clone(r.Sent), func(deletion string) bool { return !open(deletion) })
		}
	})
}

// noteOf changes what is remembered of a revision, if it is.
func (k *Keeper) noteOf(revision string, change func(*Revision)) {
	k.Note(func(h *History) {
		for i := range h.Revisions {
			if h.Revisions[i].Name == revision {
				change(&h.Revisions[i])
			}
		}
	})
}
