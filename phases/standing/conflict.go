package standing

import "fmt"

// ConflictError says that an object has a name of ours and another owner. It is not overwritten; somebody has to delete or rename it,
// so trying again soon does not help.
type ConflictError struct {
	// Kind and Key are those of the object, in the form namespace/name.
	Kind, Key string
	// OwnerKind and Owner are whose it should be.
	OwnerKind, Owner string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s %s is there already, and does not belong to %s %s: delete it, or give the %s another name", e.Kind, e.Key, e.OwnerKind, e.Owner, e.OwnerKind)
}

// Terminal says that it does not heal by itself.
func (*ConflictError) Terminal() bool { return true }
