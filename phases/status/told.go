package status

import (
	"slices"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/capstan-capi/capstan/phases/conditions"
	"github.com/capstan-capi/capstan/phases/events"
)

// Condition is what a machine tells people on the ClusterOperator.
type Condition struct {
	Type    string
	Is      bool
	Reason  string
	Message string
	// Unsure lets what was said before stay, if anything was.
	Unsure bool
}

// Stored is what stands in the ClusterOperator's status beside the record. All
// of it may be missing, old or forged; nothing decides by it.
type Stored struct {
	Detail   []byte
	Versions []configv1.OperandVersion
	Related  []configv1.ObjectReference
}

// Told is what a machine tells people after a pass.
type Told struct {
	// Line answers in one line why it is not done; it is logged whenever it was written and has changed.
	Line string
	// About is the object that Events are about.
	About      corev1.ObjectReference
	Conditions []Condition
	// Detail is a JSON value that commands show beside the record.
	Detail []byte
	// Versions and Related are nil for a machine that reports none; only one machine of a ClusterOperator may.
	Versions []configv1.OperandVersion
	Related  []configv1.ObjectReference
	// Events are told once the rest is written.
	Events []events.Event
}

// merge puts what is told in the place of what was said before. A condition that
// is not sure leaves what was said, and one that lasts is never taken off again
// once it was told: an object that was lost and came back tells nothing about what runs.
func merge(old []configv1.ClusterOperatorStatusCondition, told []Condition, lasting []string, now time.Time) []configv1.ClusterOperatorStatusCondition {
	var out []configv1.ClusterOperatorStatusCondition
	for _, c := range told {
		before := conditions.Find(old, configv1.ClusterStatusConditionType(c.Type))
		if c.Unsure && before != nil && decided(before.Status) {
			out = append(out, *before)
			continue
		}
		condition := configv1.ClusterOperatorStatusCondition{
			Type: configv1.ClusterStatusConditionType(c.Type), Status: configv1.ConditionFalse, Reason: c.Reason, Message: c.Message,
		}
		if c.Is {
			condition.Status = configv1.ConditionTrue
		}
		out = append(out, condition)
	}
	for _, said := range old {
		if slices.Contains(lasting, string(said.Type)) && conditions.Find(out, said.Type) == nil {
			out = append(out, said)
		}
	}
	conditions.Stamp(out, old, now)
	return out
}

// decided is false of statuses that no machine ever says.
func decided(status configv1.ConditionStatus) bool {
	return status == configv1.ConditionTrue || status == configv1.ConditionFalse
}
