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
// whether that is new: a mere repetition is counted, and is none.
func add(log []Entry, e Entry) ([]Entry, bool) {
	e = e.clipped()
	if last := len(log) - 1; last >= 0 && e.repeats(log[last]) {
		log[last].Times = max(log[last].Times, 1) + 1
		log[last].Last = e.At
		return log, false
	}
	return bounded(append(log, e)), true
}

// joined appends one log to another.
func joined(before, after []Entry) []Entry {
	all := slices.Clone(before)
	if last := len(all) - 1; last >= 0 && len(after) > 0 && after[0].repeats(all[last]) {
		all[last].Times = max(all[last].Times, 1) + max(after[0].Times, 1)
		all[last].Last = after[0].At
		if !after[0].Last.IsZero() {
			all[last].Last = after[0].Last
		}
		after = after[1:]
	}
	return bounded(append(all, after...))
}

// without are the entries of a log that are not in another one; of those that are, the count is brought up to date.
func without(log, in []Entry) []Entry {
	return slices.DeleteFunc(slices.Clone(log), func(e Entry) bool {
		i := slices.IndexFunc(in, func(o Entry) bool {
			return e.At.Equal(o.At) && e.Kind == o.Kind && e.Machine == o.Machine && e.Key == o.Key && e.Revision == o.Revision && e.Object == o.Object && e.Action == o.Action && e.Text == o.Text
		})
		if i >= 0 && e.Times > in[i].Times {
			in[i] = e
		}
		return i >= 0
	})
}

// bounded drops the oldest entries above the bounds, in place.
func bounded(log []Entry) []Entry {
	others := 0
	for _, e := range log {
		if e.Kind != Transition {
			others++
		}
	}
	dropOthers := max(others-maxOthers, 0)
	drop := max(len(log)-dropOthers-maxEntries, 0)
	// In a log that is full the oldest is what goes, and all others stay where they are: each entry of a busy machine comes here.
	for ; len(log) > 0; log = log[1:] {
		switch {
		case log[0].Kind != Transition && dropOthers > 0:
			dropOthers--
		case drop > 0:
			drop--
		default:
			return withoutOldest(log, dropOthers, drop)
		}
		log[0] = Entry{}
	}
	return log
}

// withoutOldest drops the oldest entries, as many as there are too many of, in place.
func withoutOldest(log []Entry, dropOthers, drop int) []Entry {
	if dropOthers+drop == 0 {
		return log
	}
	kept := log[:0]
	for _, e := range log {
		switch {
		case e.Kind != Transition && dropOthers > 0:
			dropOthers--
		case drop > 0:
			drop--
		default:
			kept = append(kept, e)
		}
	}
	clear(log[len(kept):])
	return kept
}
