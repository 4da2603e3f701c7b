package clusterapi

import (
	"encoding/json"
	"time"

	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/machine"
)

// detailEvery bounds how often words and counts are written that change with
// every object while a revision is applied. What matters is never held back.
const detailEvery = time.Second

// quietStart is how long they are held back after a start: what an operator
// does not see yet is no news, and to say so would cost writes at every restart.
const quietStart = 5 * time.Second

// pressing says whether a record or its conditions tell more than detail: a
// move, a failure that begins or ends, a condition with another status or
// reason. That a guard begins to hold can wait: drift is put right before it is news.
func pressing(operator *configv1.ClusterOperator, record machine.Record, conditions []configv1.ClusterOperatorStatusCondition) bool {
	var before machine.Record
	if json.Unmarshal(extension(operator)[extensionKey], &before) != nil {
		return true
	}
	if before.State != record.State || !before.Since.Equal(record.Since) || kindOf(before.Failure) != kindOf(record.Failure) {
		return true
	}
	for _, c := range conditions {
		if old := find(operator.Status.Conditions, c.Type); old == nil || old.Status != c.Status || old.Reason != c.Reason {
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
	case !failure.ForGood:
		return 1
	}
	return 2
}
