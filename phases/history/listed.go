package history

import (
	"slices"
	"time"
)

// List enters a revision that is listed now.
func (k *Keeper) List(r Revision) { k.Note(func(h *History) { h.enter(r) }) }

// Seen is what one look at the list of revisions has shown.
type Seen struct {
	At time.Time
	// Numbers are those of all that are listed. Listed are this operator's, as they are entered where they are missing.
	Numbers []int64
	Listed  []Revision
	// Highest is the highest number that is listed, Current that of the current revision; 0 for none.
	Highest, Current int64
}

// See brings what is remembered up to what is listed. A revision that is listed and not remembered is entered again, and so is one that
// is remembered as another one, as after an etcd was restored from a backup: what is listed is proved. That something is missing is
// remembered, unless it is no more than the newest, which may be listed a moment before that is noted.
func (k *Keeper) See(s Seen) {
	k.Note(func(h *History) {
		for _, r := range s.Listed {
			known := h.Of(r.Number)
			switch {
			case known != nil && known.Name != r.Name:
				*known = r
			case known == nil && r.Number > h.Dropped:
				h.Lost = h.Lost || len(h.Revisions) == 0 || r.Number < h.Revisions[len(h.Revisions)-1].Number
				h.enter(r)
			}
		}
		for i := range h.Revisions {
			h.Revisions[i].see(s)
		}
	})
}

// see brings one revision up to what was seen. Times that nobody has seen are left out.
func (r *Revision) see(s Seen) {
	current, noted := r.Number == s.Current, !r.Listed.IsZero()
	switch {
	case current && r.Result != Installed:
		r.Result, r.Ended = Installed, time.Time{}
		if noted {
			r.Applied = s.At
		}
	case current && !r.Ended.IsZero():
		r.Ended = time.Time{}
	case r.Result == Installed && !current && s.Current != 0 && r.Ended.IsZero():
		r.Ended = s.At
	case r.Result == Applying && !current && (s.Highest > r.Number || !slices.Contains(s.Numbers, r.Number)):
		r.Result, r.Ended = Superseded, s.At
	}
}
