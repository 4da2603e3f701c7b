package standing

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
	// Tail is text that comes after the message as it is, such as the end of a log: at most 8 KiB of it.
	Tail string
}

// Answered is the condition that says what a question was answered with. It has a reason in the words of Cluster API: the condition's
// name, or that with Not or Unknown.
func Answered(name string, answer machine.Answer) Condition {
	c := Condition{Type: name, Is: answer.Truth, Reason: name, Message: answer.Reason}
	switch answer.Truth {
	case machine.No:
		c.Reason = "Not" + name
	case machine.Unknown:
		c.Reason = name + "Unknown"
	}
	return c
}

// maxTail bounds a tail, in bytes. An API server takes 32 KiB as the message of a condition.
const maxTail = 8 << 10

// Written are conditions as the API has them, without times.
func Written(conditions []Condition) []metav1.Condition {
	words := map[machine.Truth]metav1.ConditionStatus{
		machine.Unknown: metav1.ConditionUnknown, machine.No: metav1.ConditionFalse, machine.Yes: metav1.ConditionTrue,
	}
	written := make([]metav1.Condition, 0, len(conditions))
	for _, c := range conditions {
		written = append(written, metav1.Condition{
			Type: c.Type, Status: words[c.Is], Reason: c.Reason,
			Message: machine.Shorten(c.Message, machine.MaxMessage) + machine.ShortenLines(c.Tail, maxTail),
		})
	}
	return written
}
