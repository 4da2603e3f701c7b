package history

import (
	"encoding/json"
	"slices"

	"github.com/capstan-capi/capstan/machine"
)

// The bounds of what is taken from another copy: half of the room, so that ours has the other half to grow into.
const (
	mergedBytes    = MaxBytes / 2
	mergedConsents = maxConsents / 2
)

// merge takes from another copy what is missing: revisions older than our newest, and of known ones the consents. What there was no
// room for is not taken up again, and nothing of ours makes room. When all began, and that nothing is lost, counts by a copy only if
// nothing is missing any more from where that begins: it may be an old one, or forged.
func (h *History) merge(other History) {
	if len(h.Revisions) == 0 || len(other.Revisions) == 0 {
		return
	}
	merged, newest := h.clone(), h.Revisions[len(h.Revisions)-1].Number
	for _, r := range slices.Backward(other.Revisions) {
		switch known := merged.Of(r.Number); {
		case known == nil && r.Number > h.Dropped && r.Number < newest && len(merged.Revisions) < MaxRevisions:
			merged.enter(r)
		case known != nil && known.Name == r.Name:
			known.Consents, known.Sent = with(known.Consents, r.Consents), with(known.Sent, r.Sent)
		}
	}
	if first, dropped := other.Revisions[0].Number, h.droppedBy(other); first < h.Revisions[0].Number && merged.hasAll(max(first, dropped+1), newest) {
		merged.Dropped, merged.Lost = dropped, h.Lost && other.Lost
		if !other.Began.IsZero() && other.Began.Before(h.Began) {
			merged.Began = other.Began
		}
	}
	if text, err := json.Marshal(merged); err == nil && len(text) <= mergedBytes {
		*h = merged
	}
}

// droppedBy is the highest number that there was no room for, with what another copy says of those that are older than all of ours.
func (h *History) droppedBy(other History) int64 {
	if other.Dropped < h.Revisions[0].Number {
		return max(h.Dropped, other.Dropped)
	}
	return h.Dropped
}

// hasAll says that none is missing from one number up to another.
func (h *History) hasAll(from, to int64) bool {
	for number := from; number < to; number++ {
		if h.Of(number) == nil {
			return false
		}
	}
	return true
}

// with is ours, and then what only another copy has, while there is room.
func with(ours, others []string) []string {
	all := slices.Clone(ours)
	for _, one := range others {
		if len(all) < mergedConsents && len(one) <= machine.MaxMessage && !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}
