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

// Send notes that a consent is about to be used for a revision, by the UID of the object that goes. The process that uses it may end
// before it says so.
func (k *Keeper) Send(revision, uid string) {
	k.noteOf(revision, func(r *Revision) {
		if !slices.Contains(r.Sent, uid) {
			r.Sent = append(slices.Clone(r.Sent), uid)
		}
	})
}

// Settle notes what has come of all that was sent for a revision, but for what is open still.
func (k *Keeper) Settle(revision string, open func(uid string) bool) {
	k.noteOf(revision, func(r *Revision) {
		r.Sent = slices.DeleteFunc(slices.Clone(r.Sent), func(uid string) bool { return !open(uid) })
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
