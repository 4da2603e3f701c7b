package decide

import (
	"fmt"
	"strings"
)

// RevisionError says why a revision can never be applied as it stands, whatever the cluster holds. It is terminal.
type RevisionError struct {
	Revision string
	Faults   []string
}

func (e *RevisionError) Error() string {
	return fmt.Sprintf("revision %s cannot be applied: %s", e.Revision, strings.Join(e.Faults, "; "))
}

// Terminal is always true: only other content heals a revision.
func (e *RevisionError) Terminal() bool { return true }

// ScopeError says that a manifest has a namespace that its kind cannot have, or lacks the one that it must have.
type ScopeError struct{ Namespaced bool }

func (e *ScopeError) Error() string {
	if e.Namespaced {
		return "the kind is namespaced, and the manifest has no metadata.namespace"
	}
	return "the kind is cluster-scoped, and the manifest has a metadata.namespace"
}
