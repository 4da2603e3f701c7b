package watching

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/message"
)

// Change is one line; its JSON is a promise. It is of a state, of a condition, of an object that is gone, or of a problem in looking.
type Change struct {
	At time.Time `json:"at"`
	// Object is kind and name, as "Machine a-0"; empty for a problem.
	Object string `json:"object,omitempty"`

	State *State `json:"state,omitempty"`
	// Condition is as it is now.
	Condition *Condition `json:"condition,omitempty"`
	Gone      bool       `json:"gone,omitempty"`
	Problem   string     `json:"problem,omitempty"`
}

// State is where the machine stands.
type State struct {
	Name     string             `json:"name"`
	Waits    string             `json:"waits,omitempty"`
	Deadline *v1alpha1.Deadline `json:"deadline,omitempty"`
	Failure  string             `json:"failure,omitempty"`
}

// Condition is a condition without its times.
type Condition struct {
	Type    string                 `json:"type"`
	Status  metav1.ConditionStatus `json:"status"`
	Reason  string                 `json:"reason,omitempty"`
	Message string                 `json:"message,omitempty"`
}

// lineMost is how many bytes of a text of others a line has.
const lineMost = 400

// Line is the change for people, in one line that no terminal obeys.
func (c Change) Line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  ", c.At.UTC().Format(time.RFC3339))
	switch {
	case c.State != nil:
		fmt.Fprintf(&b, "%s  %s", c.Object, c.State.text())
	case c.Condition != nil:
		fmt.Fprintf(&b, "%s  %s %s", c.Object, c.Condition.Type, c.Condition.Status)
		if c.Condition.Reason != "" && c.Condition.Reason != c.Condition.Type {
			fmt.Fprintf(&b, " (%s)", c.Condition.Reason)
		}
		if c.Condition.Message != "" {
			fmt.Fprintf(&b, ": %s", message.Shorten(c.Condition.Message, lineMost))
		}
	case c.Gone:
		fmt.Fprintf(&b, "%s  gone", c.Object)
	default:
		b.WriteString(message.Shorten(c.Problem, lineMost))
	}
	return message.Line(b.String())
}

func (s State) text() string {
	text := s.Name
	if text == "" {
		text = "no state yet: does the provider run?"
	}
	if s.Waits != "" {
		text += ": " + message.Shorten(s.Waits, lineMost)
	}
	if d := s.Deadline; d != nil {
		text += fmt.Sprintf("; %s at %s unless it goes on", d.To, machine.Moment(d.At.Time))
	}
	if s.Failure != "" && !strings.Contains(s.Waits, s.Failure) {
		text += "; fails: " + message.Shorten(s.Failure, lineMost)
	}
	return text
}

func stateOf(plane *v1alpha1.OpenShiftControlPlane) State {
	s := State{Name: plane.Status.State, Waits: plane.Status.Waits, Deadline: plane.Status.Deadline}
	if f := plane.Status.LastFailure; f != nil {
		s.Failure = f.Message
	}
	return s
}
