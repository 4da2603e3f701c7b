// Package conditions keeps the conditions of a ClusterOperator honest, for
// everyone who writes some of them under a field manager of their own. It knows
// no condition in particular and sends nothing.
package conditions

import (
	"strings"
	"time"
	"unicode/utf8"

	configv1 "github.com/openshift/api/config/v1"
	configv1ac "github.com/openshift/client-go/config/applyconfigurations/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Find returns the condition of a type, nil if it is not among all.
func Find(all []configv1.ClusterOperatorStatusCondition, kind configv1.ClusterStatusConditionType) *configv1.ClusterOperatorStatusCondition {
	for i := range all {
		if all[i].Type == kind {
			return &all[i]
		}
	}
	return nil
}

// Stamp gives each condition its transition time: that of the old condition of
// its type unless the status is another, whatever reason and message say.
func Stamp(told, old []configv1.ClusterOperatorStatusCondition, now time.Time) {
	for i := range told {
		// JSON has no other text, so any other would never equal what is stored.
		told[i].Message = strings.ToValidUTF8(told[i].Message, string(utf8.RuneError))
		told[i].LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
		if before := Find(old, told[i].Type); before != nil && before.Status == told[i].Status {
			told[i].LastTransitionTime = before.LastTransitionTime
		}
	}
}

// Stand says that all conditions are there, whatever their times: there is
// nothing to write.
func Stand(told, there []configv1.ClusterOperatorStatusCondition) bool {
	for _, c := range told {
		found := Find(there, c.Type)
		if found == nil || found.Status != c.Status || found.Reason != c.Reason || found.Message != c.Message {
			return false
		}
	}
	return true
}

// AddTo puts conditions into a status that is to be applied.
func AddTo(status *configv1ac.ClusterOperatorStatusApplyConfiguration, told []configv1.ClusterOperatorStatusCondition) {
	for _, c := range told {
		status.WithConditions(configv1ac.ClusterOperatorStatusCondition().WithType(c.Type).WithStatus(c.Status).
			WithReason(c.Reason).WithMessage(c.Message).WithLastTransitionTime(c.LastTransitionTime))
	}
}
