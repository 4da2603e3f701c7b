package engine

// ReconcileOptions are what a ReconcileOption sets. Another implementation of Reconcile reads its options here too.
type ReconcileOptions struct {
	Keep bool
}

// ReconcileOption changes what Reconcile does.
type ReconcileOption func(*ReconcileOptions)

// Keep keeps a revision that was applied before as it was: drift is repaired and what was deleted is created again, in
// all waves at once and without gates. What a newer revision has taken over is left alone.
func Keep() ReconcileOption { return func(o *ReconcileOptions) { o.Keep = true } }

// ReconcileOptionsOf sets all options.
func ReconcileOptionsOf(opts ...ReconcileOption) ReconcileOptions {
	var o ReconcileOptions
	for _, set := range opts {
		set(&o)
	}
	return o
}

// TeardownOptions are what a TeardownOption sets. Another implementation of Teardown reads its options here too.
type TeardownOptions struct {
	Consent  string
	OnlyLook bool
}

// TeardownOption changes what Teardown does.
type TeardownOption func(*TeardownOptions)

// Consent says that the administrator lets users' data go with the objects that hold it, if contentID is that of the
// revision that stays. Consent to any other content counts for nothing.
func Consent(contentID string) TeardownOption {
	return func(o *TeardownOptions) { o.Consent = contentID }
}

// OnlyLook deletes nothing: what would be deleted is reported as Pending.
func OnlyLook() TeardownOption { return func(o *TeardownOptions) { o.OnlyLook = true } }

// TeardownOptionsOf sets all options.
func TeardownOptionsOf(opts ...TeardownOption) TeardownOptions {
	var o TeardownOptions
	for _, set := range opts {
		set(&o)
	}
	return o
}
