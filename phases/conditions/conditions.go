// Package conditions holds what all writers of a ClusterOperator's conditions do
// alike: each writes its own, under a field manager of its own. It knows no
// condition in particular and sends nothing.
package conditions

import (
	"time"

	configv1 "github.com/openshift/api/config/v1"
	configv1ac "github.com/openshift/client-go/config/applyconfigurations/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/message"
)

// Find returns the condition of a type, nil if there is none.
func Find(all []configv1.ClusterOperatorStatusCondition, kind configv1.ClusterStatusConditionType) *configv1.ClusterOperatorStatusCondition {
	for i := range all {
		if all[i].Type == kind {
			return &all[i]
		}
	}
	return nil
}

// Stamp makes conditions exactly what the API will store. Each gets its
// transition time: that of the old condition of its type, unless the status has
// changed; reason and message play no part. Messages become text that can be
// printed: names and texts of others may control a terminal.
func Stamp(wanted, old []configv1.ClusterOperatorStatusCondition, now time.Time) {
	for i := range wanted {
		// JSON has no text but valid UTF-8: anything else would never equal what is stored.
		wanted[i].Message = message.Lines(wanted[i].Message)
		wanted[i].LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
		if before := Find(old, wanted[i].Type); before != nil && before.Status == wanted[i].Status {
			wanted[i].LastTransitionTime = before.LastTransitionTime
		}
	}
}

// Stored reports whether all wanted conditions are stored, whatever their
// transition times: then there is nothing to write.
func Stored(wanted, stored []configv1.ClusterOperatorStatusCondition) bool {
	for _, c := range wanted {
		found := Find(stored, c.Type)
		if found == nil || found.Status != c.Status || found.Reason != c.Reason || found.Message != c.Message {
			return false
		}
	}
	return true
}

// AddTo adds conditions to a status that is to be applied.
func AddTo(status *configv1ac.ClusterOperatorStatusApplyConfiguration, wanted []configv1.ClusterOperatorStatusCondition) {
	for _, c := range wanted {
		status.WithConditions(configv1ac.ClusterOperatorStatusCondition().WithType(c.Type).WithStatus(c.Status).
			WithReason(c.Reason).WithMessage(c.Message).WithLastTransitionTime(c.LastTransitionTime))
	}
}
