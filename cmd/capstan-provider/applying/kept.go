package applying

import (
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kept is a field that somebody else has set.
type Kept struct {
	Field string `json:"field"`
	// Manager is under which name, as in "kubectl-edit".
	Manager string `json:"manager"`
}

// managerName is in the text of a cause, which is the only place that has it.
var managerName = regexp.MustCompile(`^conflict with "([^"]*)"`)

// keptBy are the fields that an API server names in a conflict between managers of fields.
func keptBy(status metav1.Status) (all []Kept) {
	if status.Details == nil {
		return nil
	}
	for _, cause := range status.Details.Causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		kept := Kept{Field: cause.Field, Manager: cause.Message}
		if found := managerName.FindStringSubmatch(cause.Message); found != nil {
			kept.Manager = found[1]
		}
		all = append(all, kept)
	}
	return all
}
