package act

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// ReconcileOptions change what Reconcile does.
type ReconcileOptions struct {
	// Keep keeps a revision that was applied before as it was: drift is repaired and what was deleted is created again, in
	// all waves at once and without gates. What a newer revision has taken over is left alone.
	Keep bool
	// FirstInstall says that no revision has ever been current. Nothing at work depends on a wave then, so its objects are
	// created without a trial: one that is refused keeps the next wave from being written, and not the rest of its own. What
	// is in the cluster already is tried as ever.
	FirstInstall bool
}

// TeardownOptions change what Teardown does.
type TeardownOptions struct {
	// Consents are by the identities of objects what an administrator consented to lose with them, for the revision that stays.
	// Each counts for that very object while it holds exactly that.
	Consents map[decide.Key]decide.Consent
	// Losing is called before the deletion of an object by a consent is sent, with its UID. What the object holds is listed anew
	// after that.
	Losing func(key decide.Key, uid types.UID)
	// Stands is asked after that list, right before the deletion is sent, whether the consents stand still.
	Stands func() (bool, error)
	// Lost are by the identities of objects the UIDs that Losing was called with, and of which nobody knows what came of it: this
	// process may not be the one that has sent the deletion.
	Lost map[decide.Key]types.UID
	// OnlyLook deletes nothing: what would be deleted is reported as Pending.
	OnlyLook bool
}
