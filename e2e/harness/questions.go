package harness

import (
	"fmt"
	"strings"
)

// All is the first problem that any of the questions has with a view.
func All(questions ...func(View) error) func(View) error {
	return func(v View) error {
		for _, question := range questions {
			if err := question(v); err != nil {
				return err
			}
		}
		return nil
	}
}

// Says is the question whether a condition has a status and a reason, and a
// message with all of these texts in it.
func Says(kind, status, reason string, texts ...string) func(View) error {
	return func(v View) error {
		c := v.Condition(kind)
		if c == nil {
			return fmt.Errorf("there is no condition %s", kind)
		}
		if string(c.Status) != status || c.Reason != reason {
			return fmt.Errorf("condition %s is %s with reason %s, want %s with %s: %s", kind, c.Status, c.Reason, status, reason, c.Message)
		}
		for _, text := range texts {
			if !strings.Contains(c.Message, text) {
				return fmt.Errorf("the message of condition %s does not name %q: %s", kind, text, c.Message)
			}
		}
		return nil
	}
}
