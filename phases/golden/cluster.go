package golden

import (
	configv1 "github.com/openshift/api/config/v1"
	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
)

// Cluster is what a verdict needs to know beside the golden images and the target.
type Cluster struct {
	// Platform is the Infrastructure's.
	Platform configv1.PlatformType
	// InfrastructureName is the name that the installer gave to what it uploaded.
	InfrastructureName string
	// Region is the Infrastructure's, for AWS.
	Region string
	// GCPProject is the project in which releases publish their images.
	GCPProject string
	// ControlPlaneArchitectures are those of the control-plane Nodes, in Go's spelling; duplicates do no harm.
	ControlPlaneArchitectures []string
	// MultiPayload says that the release has all architectures, so that a Node's says nothing about a target's.
	MultiPayload bool
	// ControlPlaneRollsOut says that a ControlPlaneMachineSet of this release replaces machines whose template has changed.
	ControlPlaneRollsOut bool
	// Provenance may be nil: no image is known.
	Provenance Provenance
	// Templates may be nil: nobody looks after vCenter's templates.
	Templates Templates
}

// Provenance says whether an image is a release's own, where its name does not tell. Images are spelt as [Verdict.Present] has
// them.
type Provenance interface {
	Knows(image string) bool
}

// Templates names the template in vCenter that was made of a golden image.
type Templates interface {
	// Template is asked with the release of the golden image and its architecture, as the stream spells it.
	Template(release, architecture string, workspace *machinev1beta1.Workspace) (name string, found bool)
}
