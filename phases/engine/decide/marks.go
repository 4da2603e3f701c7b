package decide

// The marks that the engine reads and writes on the objects of a cluster.
const (
	// ManagedByLabel is on every managed object; its value is the component. The watches select by it.
	ManagedByLabel = "capi-operator.openshift.io/managed-by"
	// RevisionAnnotation holds the decimal number of the newest revision that applied the object.
	RevisionAnnotation = "capi-operator.openshift.io/revision"
	// OwnerAnnotation holds the identity (Config.Owner) of the installation that the object belongs to.
	OwnerAnnotation = "capi-operator.openshift.io/owner"
	// AdoptAnnotation, set to "always" in a manifest, lets an existing object without a controller be taken over, and
	// set to "force" also one from its controller, which stays as a plain owner.
	AdoptAnnotation = "capi-operator.openshift.io/adopt-existing"
	// ImmutableAnnotation, set to "recreate" in a manifest, lets the object be deleted and created again when the API
	// server refuses a change of it only because fields cannot be changed.
	ImmutableAnnotation = "capi-operator.openshift.io/on-immutable-change"
	// CompleteAnnotation is a CEL expression over self, the object, that has to be true before the next wave.
	CompleteAnnotation = "capi-operator.openshift.io/complete-when"
	// RequiredAnnotation, on a CompatibilityRequirement of a revision, names the CRD that it is about.
	RequiredAnnotation = "capi-operator.openshift.io/required-crd"
	// InventoryLabel marks the ConfigMaps that list what each revision applies.
	InventoryLabel = "capi-operator.openshift.io/inventory"

	AdoptAlways         = "always"
	AdoptForce          = "force"
	OnImmutableRecreate = "recreate"
)

// MaxNumber is the highest revision number that counts: one a second would take thirty thousand years to get there. A
// number above it was put there to leave none for the next revision.
const MaxNumber = 1 << 40

// maxLeap is how far above every number that is known to be used another one is believed: what was lost in between was
// never that many revisions.
const maxLeap = 1_000_000

// Believable says that a number may follow from revisions up to the one that is known, and leaves one for the next revision.
func Believable(number, known int64) bool {
	return number < MaxNumber && number <= known+maxLeap
}
