package privatecapi

import "time"

// Reconciler is who reconciles a HostedCluster and its NodePools.
type Reconciler string

// The reconcilers.
const (
	Nobody Reconciler = "nobody"
	// Machine is the machine privatecapi, of the one migration that Owner names.
	Machine Reconciler = "machine"
	// Legacy is the operator of the standard types, New that of the private ones.
	Legacy Reconciler = "legacy"
	New    Reconciler = "new"
)

// Owner is who reconciles, and for Machine the id of its migration, empty for none.
type Owner struct {
	By Reconciler
	ID string
}

// OwnerOf is who reconciles a HostedCluster with these annotations, and its NodePools, which have the owner of their
// HostedCluster. All operators ask it before each write, so that there is never more than one of them at it.
func OwnerOf(annotations map[string]string) Owner {
	return MarksOf(annotations).Owner()
}

// Owner is what OwnerOf says. The first that matches counts.
func (m Marks) Owner() Owner {
	switch {
	case m.Migrating:
		return Owner{By: Machine, ID: m.Companion.ID}
	case m.Legacy && m.Private:
		return Owner{By: Nobody}
	case m.Private:
		return Owner{By: New}
	case m.Legacy, m.Failed != "":
		return Owner{By: Legacy}
	}
	return Owner{By: Nobody}
}

// NotNewAlone says why a HostedCluster is not the new operator's alone; empty if it is, or is about to be: one without a mark that
// was created after the enablement of the programme. Before that, which is the zero time, none is.
func NotNewAlone(m Marks, created, enabled time.Time) string {
	switch by := m.Owner().By; {
	case m.Locked():
		return "is locked"
	case m.Failed != "":
		return "has a failed move: " + short(string(m.Failed))
	case by == New, by == Nobody && !m.Legacy && !m.Restored && !enabled.IsZero() && created.After(enabled):
		return ""
	default:
		return "is reconciled by " + by.text()
	}
}

func (r Reconciler) text() string {
	switch r {
	case Machine:
		return "nobody but its migration"
	case Legacy:
		return "the old operator"
	case New:
		return "the new operator"
	}
	return "nobody"
}
