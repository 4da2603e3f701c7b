package golden

// Outcome is the kind of a verdict.
type Outcome string

// The outcomes.
const (
	// AsWanted says that the target names the wanted image.
	AsWanted Outcome = "AsWanted"
	// Outdated says that the wanted image may be written.
	Outdated Outcome = "Outdated"
	// Skipped says that the target is readable, and nothing may be written.
	Skipped Outcome = "Skipped"
	// Invalid says that the target, or the golden value that it needs, cannot be read. No other target is concerned.
	Invalid Outcome = "Invalid"
)

// Reason is why a target is skipped.
type Reason string

// The reasons.
const (
	// NoImageID says that the target finds its image by something else than its name.
	NoImageID Reason = "NoImageID"
	// NoImageHere says that the golden stream has no image for the target's region, architecture or plan.
	NoImageHere Reason = "NoImageHere"
	// Foreign says that the present image is not known to be a release's own.
	Foreign Reason = "Foreign"
	// NeedsVCenter says that a template in vCenter would have to be made first.
	NeedsVCenter Reason = "NeedsVCenter"
	// ImageFamily says that GCP chooses the newest image of a family.
	ImageFamily Reason = "ImageFamily"
	// EKSLookup says that the provider looks up an image of EKS.
	EKSLookup Reason = "EKSLookup"
	// Unsupported says that there are no rules for the platform, or the kind of the template.
	Unsupported Reason = "Unsupported"
	// ArchUnknown says that nothing tells which architecture the target's machines have.
	ArchUnknown Reason = "ArchUnknown"
	// UnsupportedArch says that no release has an image of the architecture for the platform.
	UnsupportedArch Reason = "UnsupportedArch"
	// SecurityType says that the machines need an image made for trusted launch or confidential computing.
	SecurityType Reason = "SecurityType"
	// WouldRollOut says that the write would replace machines that run.
	WouldRollOut Reason = "WouldRollOut"
)

// Counted says whether a skipped target counts among those that stay behind: not where there never was an image for it.
func (r Reason) Counted() bool { return r != UnsupportedArch && r != SecurityType }

// Verdict is what is to be done about a target's boot image.
type Verdict struct {
	Outcome Outcome
	// Reason is set where the target is skipped.
	Reason Reason
	// Message says why a target is skipped or invalid, and Remedy what to do about it; both in one line within a KiB.
	Message, Remedy string
	// Wanted is the image that the target should have, where it is known: an AMI, projects/<project>/global/images/<name>, or
	// publisher:offer:sku:version.
	Wanted string
	// Present are the images that the target names, spelt like Wanted; an uploaded Azure image by its resource ID.
	Present []string
	// Patch is the edit of an outdated target, to be sent as it is. That of a Cluster API target names the clone.
	Patch Patch
	// CloneName and CloneSpec are the infrastructure template that has to be there before the patch; see [Target.Clone]. The spec shares
	// with the present template what is the same.
	CloneName string
	CloneSpec map[string]any
}

// Counted says that the target is skipped, and counts among those that stay behind.
func (v *Verdict) Counted() bool { return v.Outcome == Skipped && v.Reason.Counted() }

// skipError ends looking at a target that is not to be written.
type skipError struct {
	reason Reason
	text   string
	remedy string
}

func (e *skipError) Error() string { return e.text }
