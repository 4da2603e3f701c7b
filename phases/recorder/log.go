package recorder

import "slices"

// Bounds of a log. Transitions may take all of the room, the others half of
// it: what a large revision does to its objects must not push out how the
// machine came to do it.
const (
	maxEntries = 512
	maxOthers  = maxEntries / 2
)

// add appends an entry to a log and drops what there is no room for. It says
// whether that is news: a mere repetition is counted, and is none.
func add(log []Entry, e Entry) ([]Entry, bool) {
	e = e.clipped()
	if last := len(log) - 1; last >= 0 && e.repeats(log[last]) {
		log[last].Times = max(log[last].Times, 1) + 1
		log[last].Last = e.At
		return log, false
	}
	return bounded(append(log, e)), true
}

// bounded drops the oldest entries above the bounds.
func bounded(log []Entry) []Entry {
	others := 0
	for _, e := range log {
		if e.Kind != Transition {
			others++
		}
	}
	for len(log) > maxEntries || others > maxOthers {
		oldest := 0
		if others > maxOthers {
			oldest = slices.IndexFunc(log, func(e Entry) bool { return e.Kind != Transition })
		}
		if log[oldest].Kind != Transition {
			others--
		}
		log = slices.Delete(log, oldest, oldest+1)
	}
	return log
}
