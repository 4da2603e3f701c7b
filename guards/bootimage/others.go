package bootimage

import (
	"fmt"

	"github.com/capstan-capi/capstan/machine"
)

// Exclusion names what keeps a target from being touched, whatever its image is.
type Exclusion string

// The exclusions, in the order in which they are looked for.
const (
	GoingAway        Exclusion = "GoingAway"
	Claimed          Exclusion = "Claimed"
	Owned            Exclusion = "Owned"
	TopologyOwned    Exclusion = "TopologyOwned"
	NotAuthoritative Exclusion = "NotAuthoritative"
	Paused           Exclusion = "Paused"
	Inactive         Exclusion = "Inactive"
	OtherStream      Exclusion = "OtherStream"
	Windows          Exclusion = "Windows"
)

// Others is what others have to do with a target. Known is false until all of it was seen.
type Others struct {
	Known     bool `yaml:"known"`
	GoingAway bool `yaml:"goingAway"`
	// Claimed is the field manager that claims the boot images of the target's API.
	Claimed string `yaml:"claimed"`
	// Owner is who owns the target, but for a Cluster that owns what is its own; OfDeployment says that it is a MachineDeployment.
	Owner        string `yaml:"owner"`
	OfDeployment bool   `yaml:"ofDeployment"`
	// Topology says that a topology makes the target.
	Topology bool `yaml:"topology"`
	// Authority is the API whose set of this name counts, and another word while neither does; empty where there is one only.
	// TwinCurrent says that the other set is Current.
	Authority   string `yaml:"authority"`
	TwinCurrent bool   `yaml:"twinCurrent"`
	// Paused is what is paused: the target, or its Cluster.
	Paused string `yaml:"paused"`
	// Inactive says that a ControlPlaneMachineSet is not Active.
	Inactive bool `yaml:"inactive"`
	// Stream is the stream of operating systems that the target's label asks for, if that is another than WantedStream.
	Stream       string `yaml:"stream"`
	WantedStream string `yaml:"wantedStream"`
	Windows      bool   `yaml:"windows"`
}

// Excluded is the first exclusion that fits, with the text for people; empty if there is none. Counted says that the target
// counts as skipped.
func Excluded(f Facts) (why Exclusion, text string, counted bool) {
	switch o := f.Others; {
	case o.GoingAway:
		return GoingAway, f.Object.String() + " is being deleted", true
	case o.Claimed != "":
		return Claimed, fmt.Sprintf("the boot images of %s are managed by %s, which claims status.managedBootImagesStatus of MachineConfiguration cluster: run one of the two only",
			f.Object.API, o.Claimed), true
	case o.Owner != "":
		return Owned, fmt.Sprintf("%s is owned by %s, which would change it back: move the boot image there", f.Object, o.Owner), !o.OfDeployment
	case o.Topology:
		return TopologyOwned, fmt.Sprintf("%s is made by the topology of its Cluster: move the boot image in the ClusterClass", f.Object), true
	case o.Authority != "" && o.Authority != f.Object.API:
		return NotAuthoritative, f.notAuthoritative(), !o.TwinCurrent
	case o.Paused != "":
		return Paused, fmt.Sprintf("%s is paused: its boot image is moved once it goes on", o.Paused), true
	case o.Inactive:
		return Inactive, fmt.Sprintf("%s is not Active and makes no machines: set spec.state to Active if it is to", f.Object), false
	case o.Stream != "" && o.Stream != o.WantedStream:
		return OtherStream, fmt.Sprintf("%s asks for the stream %s, and the boot images are of %s: take off its label machineconfiguration.openshift.io/osstream if it is to have them",
			f.Object, o.Stream, o.WantedStream), false
	case o.Windows:
		return Windows, f.Object.String() + " makes machines with Windows, whose boot images are not a release's", false
	}
	return "", "", false
}

func (f Facts) notAuthoritative() string {
	if f.Others.Authority == MachineAPI || f.Others.Authority == ClusterAPI {
		return fmt.Sprintf("the authority over %s is with its twin in %s, whose boot image is moved", f.Object, f.Others.Authority)
	}
	return fmt.Sprintf("%s is being migrated from one API to another: its boot image is moved once that has ended", f.Object)
}

// Touchable asks whether nobody else has the say over the target.
var Touchable = guard{
	Name: "Touchable",
	Doc:  "The target is not going away, claimed, owned, made by a topology, without authority or paused; a ControlPlaneMachineSet is Active; its stream of operating systems is that of the boot images, and it does not make machines with Windows.",
	Ask: seen(func(f Facts) machine.Answer {
		if !f.Others.Known {
			return machine.SayUnknown("nobody can tell yet who has the say over " + f.Object.String())
		}
		if why, text, _ := Excluded(f); why != "" {
			return machine.SayNo(text)
		}
		return machine.SayYes("nobody else has the say over " + f.Object.String())
	}),
}
