package status

import (
	"time"

	"github.com/capstan-capi/capstan/machine"
)

const (
	// wordsEvery bounds how often words and counts are written that change with every object while work is done.
	wordsEvery = 2 * time.Second
	// quietStart is how long words and counts are held back after a start: what an operator does not see yet is nothing new, and to say
	// so would cost writes at every restart.
	quietStart = 5 * time.Second
	// hiccup is how long words and counts must be other ones before they are written in a state that the machine rests in: what is
	// put right by then is not told.
	hiccup = 5 * time.Second
	// gatherFor is how long moves wait to be written, so that a passage that is over by then is one write. A process
	// that is killed meanwhile takes the way again from the record that is stored, and finds done what it had done.
	gatherFor = 3 * time.Second
)

// throttle decides when a report is written. What it remembers is lost with the
// process; then words and counts wait a little longer once.
type throttle struct {
	rests func(machine.State) bool
	// words is when words and counts may be written next, zero before the first difference.
	words time.Time
	// differs is since when there is something to write, zero for nothing.
	differs time.Time
}

// begin notes that there is something to write. A clock that was set back holds
// nothing up for as long as it jumped.
func (t *throttle) begin(now time.Time) {
	if start := now.Add(quietStart); t.words.IsZero() || start.Before(t.words) {
		t.words = start
	}
	if t.differs.IsZero() || now.Before(t.differs) {
		t.differs = now
	}
}

// sends notes that a report is sent, and end that there is nothing more to write.
func (t *throttle) sends(now time.Time) { t.words = now.Add(wordsEvery) }
func (t *throttle) end()                { t.differs = time.Time{} }

// writeAt is when a report that differs from the stored one is to be written.
//
//   - at once: over a record that cannot be read, with another version, when the machine comes to rest or leaves it,
//     when a failure begins or ends, and with a condition that turns without a move. A process that starts from a
//     record of rest would not look for what was begun and not finished.
//   - gatherFor after the first new move: moves between states that the machine does not rest in.
//   - as soon as words may be written, and in a state of rest not before they have lasted: all else.
func (t throttle) writeAt(stored, wanted report, now time.Time) time.Time {
	rests := t.rests(wanted.record.State)
	switch {
	case stored.unreadable != "" || !wanted.keepsVersions(stored):
		return now
	case !wanted.matters(stored):
		if lasts := t.differs.Add(hiccup); rests && lasts.After(t.words) {
			return lasts
		}
		return t.words
	case rests || t.rests(stored.record.State) || wanted.failsOtherwise(stored):
		return now
	}
	if moved := wanted.movedAt(stored); !moved.IsZero() && !moved.After(now) { // later only if the clock was set back
		return moved.Add(gatherFor)
	}
	return now
}
