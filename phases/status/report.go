package status

import (
	"encoding/json"
	"slices"
	"time"

	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/conditions"
)

// report is what stands in a ClusterOperator's status, or is to stand there.
type report struct {
	record      machine.Record
	raw, detail []byte
	// unreadable says why a record that is there cannot be read, empty if it can.
	unreadable string
	conditions []configv1.ClusterOperatorStatusCondition
	versions   []configv1.OperandVersion
	related    []configv1.ObjectReference
}

// reportIn is what stands in a ClusterOperator about a machine; there may be none of either.
func reportIn(operator *configv1.ClusterOperator, name string) report {
	if operator == nil {
		return report{}
	}
	status := operator.Status
	entries := Extension(status.Extension.Raw)
	r := report{
		raw: entries[RecordKey(name)], detail: entries[DetailKey(name)],
		conditions: status.Conditions, versions: status.Versions, related: status.RelatedObjects,
	}
	if len(r.raw) == 0 {
		return r
	}
	if err := json.Unmarshal(r.raw, &r.record); err != nil {
		r.unreadable = err.Error()
	}
	return r
}

// stands says that there is nothing to write.
func (r report) stands(stored report) bool {
	return sameJSON(stored.raw, r.raw) && (len(r.detail) == 0 || sameJSON(stored.detail, r.detail)) && conditions.Stored(r.conditions, stored.conditions) &&
		r.keepsVersions(stored) && (r.related == nil || slices.Equal(stored.related, r.related))
}

func (r report) keepsVersions(stored report) bool {
	return r.versions == nil || slices.Equal(stored.versions, r.versions)
}

// matters says that more is new than words and counts: a move, a failure that
// begins or ends, a condition with another status or reason. That a guard begins
// to hold is none of these: drift is put right before it is told.
func (r report) matters(stored report) bool {
	if stored.record.State != r.record.State || !stored.record.Since.Equal(r.record.Since) || r.failsOtherwise(stored) {
		return true
	}
	return slices.ContainsFunc(r.conditions, func(c configv1.ClusterOperatorStatusCondition) bool {
		old := conditions.Find(stored.conditions, c.Type)
		return old == nil || old.Status != c.Status || old.Reason != c.Reason
	})
}

// failsOtherwise tells apart no failure, one that may heal and a terminal one.
func (r report) failsOtherwise(stored report) bool {
	one, other := stored.record.Failure, r.record.Failure
	return (one == nil) != (other == nil) || one != nil && one.Terminal != other.Terminal
}

// movedAt is when the first move was made that the stored record does not have, zero for none.
func (r report) movedAt(stored report) time.Time {
	var last time.Time
	if known := stored.record.Transitions; len(known) > 0 {
		last = known[len(known)-1].At
	}
	for _, made := range r.record.Transitions {
		if made.At.After(last) {
			return made.At
		}
	}
	return time.Time{}
}
