package clusterapi

import (
	"bytes"
	"encoding/json"
	"time"

	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/conditions"
)

// detailEvery bounds how often words and counts are written that change with
// every object while a revision is applied. What matters is held back for gatherFor at most.
const detailEvery = 2 * time.Second

// quietStart is how long they are held back after a start: what an operator
// does not see yet is no news, and to say so would cost writes at every restart.
const quietStart = 5 * time.Second

// hiccup is how long words and counts must be other ones before they are written
// in a state that the machine rests in: what is put right by then is no news.
const hiccup = 5 * time.Second

// pressing says whether a record or its conditions tell more than detail: a
// move, a failure that begins or ends, a condition with another status or
// reason. That a guard begins to hold can wait: drift is put right before it is news.
func pressing(operator *configv1.ClusterOperator, record machine.Record, told []configv1.ClusterOperatorStatusCondition) bool {
	var before machine.Record
	if json.Unmarshal(extension(operator)[RecordKey], &before) != nil {
		return true
	}
	if before.State != record.State || !before.Since.Equal(record.Since) || kindOf(before.Failure) != kindOf(record.Failure) {
		return true
	}
	for _, c := range told {
		if old := conditions.Find(operator.Status.Conditions, c.Type); old == nil || old.Status != c.Status || old.Reason != c.Reason {
			return true
		}
	}
	return false
}

// kindOf tells apart no failure, one that may heal and one that is for good.
func kindOf(failure *machine.Failure) int {
	switch {
	case failure == nil:
		return 0
	case !failure.Terminal:
		return 1
	}
	return 2
}

// gatherFor is how long moves wait to be written, so that a passage that is over
// by then is one write. A process that is killed meanwhile takes the way again
// from the record that is stored, and finds done what it had done.
const gatherFor = 3 * time.Second

// unwritten is a record that waits to be written over the one that is stored.
type unwritten struct {
	stored []byte
	record machine.Record
}

// follows says whether this is still what is stored: whoever changes or deletes
// the stored record is heard.
func (u *unwritten) follows(stored []byte) bool {
	return u != nil && (bytes.Equal(u.stored, stored) || sameJSON(u.stored, stored))
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// mayGather is how long the moves of a record may wait to be written. A state
// that the machine rests in is written at once, and so is a failure that begins
// or ends, and that a rest is over: a process that starts from a record of rest
// would not look for what was begun and not finished.
func mayGather(stored []byte, record machine.Record, rests func(machine.State) bool, now time.Time) time.Duration {
	var before machine.Record
	if len(stored) > 0 && json.Unmarshal(stored, &before) != nil {
		return 0
	}
	if rests(record.State) || rests(before.State) || kindOf(before.Failure) != kindOf(record.Failure) {
		return 0
	}
	var last time.Time
	if made := before.Transitions; len(made) > 0 {
		last = made[len(made)-1].At
	}
	for _, made := range record.Transitions {
		if made.At.After(now) { // the clock was set back
			return 0
		}
		if made.At.After(last) {
			return max(0, made.At.Add(gatherFor).Sub(now))
		}
	}
	return 0
}
