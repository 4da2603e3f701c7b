package openshiftcontrolplane

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/machine"
)

// Condition is what is told of one thing.
type Condition struct {
	Type    string
	Is      machine.Truth
	Reason  string
	Message string
}

// Written are conditions as the API has them, without times.
func Written(conditions []Condition) []metav1.Condition {
	words := map[machine.Truth]metav1.ConditionStatus{
		machine.Unknown: metav1.ConditionUnknown, machine.No: metav1.ConditionFalse, machine.Yes: metav1.ConditionTrue,
	}
	written := make([]metav1.Condition, 0, len(conditions))
	for _, c := range conditions {
		written = append(written, metav1.Condition{
			Type: c.Type, Status: words[c.Is], Reason: c.Reason, Message: machine.Shorten(c.Message, machine.MaxMessage),
		})
	}
	return written
}
