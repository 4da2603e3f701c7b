package act

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
	// Consent is the number of the revision for which the administrator lets users' data go with the objects that hold it:
	// that of the revision that stays. Consent for any other one counts for nothing; 0 is none.
	Consent int64
	// OnlyLook deletes nothing: what would be deleted is reported as Pending.
	OnlyLook bool
}
