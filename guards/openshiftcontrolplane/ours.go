package openshiftcontrolplane

import (
	"fmt"

	"github.com/capstan-capi/capstan/machine"
)

// Authority is whose word a kubeconfig takes for who the guest is.
type Authority string

// The authorities.
const (
	// Vouched: the kubeconfig is of our making, and takes nobody's word but that of the Cluster's authority.
	Vouched Authority = "Vouched"
	// Absent: it is of our making, and the Cluster's authority is not here.
	Absent Authority = "Absent"
	// Another: it is of our making, and takes the word of others, too, or anybody's: who may write its Secret has changed what it says.
	Another Authority = "Another"
	// External: somebody else has made it.
	External Authority = "External"
)

// Identity is what tells whether the guest that answers is the cluster that was made.
type Identity struct {
	// Authority is empty while it was not looked for.
	Authority Authority `yaml:"authority"`
	// ID is the clusterID of the guest's ClusterVersion, empty where it tells none. Unread is why it could not be read, which is not the
	// same.
	ID     string `yaml:"id"`
	Unread string `yaml:"unread"`
	// Made is the ID of the cluster that was made here, empty where it is not known.
	Made string `yaml:"made"`
	// Installer says that the installer's Job makes the payload, which keeps the authority to itself.
	Installer bool `yaml:"installer"`
}

// idMost is how much is told of an ID that a guest gives, in bytes: a UUID has less.
const idMost = 64

// IsOurs says whether the guest is the cluster that was made here.
func (i Identity) IsOurs() machine.Answer {
	switch {
	case i.Authority == Vouched:
		return machine.SayYes("")
	case i.ID != "" && i.ID == i.Made:
		return machine.SayYes("")
	case i.ID != "" && i.Made != "":
		return machine.SayNo(fmt.Sprintf("it is another cluster: its ID is %q, and that of the cluster that was made here %q", machine.Shorten(i.ID, idMost), i.Made))
	case i.Authority == "":
		return machine.SayUnknown("it is not known yet who vouches for the guest")
	case i.Unread != "":
		return machine.SayUnknown("which cluster it is could not be read: " + machine.Shorten(i.Unread, 200))
	case i.Authority == Absent && i.Installer:
		return machine.SayYes("")
	case i.Made == "":
		return machine.SayUnknown(i.whose() + ", and it is not known which cluster was made here: note its ID in annotation " +
			"capstan.openshift.io/payload-cluster-id of the payload's Secrets" + i.or())
	}
	return machine.SayUnknown("it does not say yet which cluster it is, and " + i.whose() + ": its ClusterVersion version has no spec.clusterID; wait until it has" + i.or())
}

// whose is why nobody vouches for the guest.
func (i Identity) whose() string {
	switch i.Authority {
	case Absent:
		return "the authority of this cluster is not here"
	case Another:
		return "its kubeconfig trusts another authority than the one of this cluster"
	}
	return "its kubeconfig is somebody else's"
}

// or is what else can be done.
func (i Identity) or() string {
	if i.Authority == Absent {
		return ", or put the Secret of the authority back"
	}
	return ", or delete the Secret of the kubeconfig, which is made anew where the key of the authority is here"
}

// IsTold says that what the guest says of its health may be told of a cluster whose bootstrap is finished, though nobody knows that it is
// ours: another authority here must not lose an installed cluster. No mark is set, no Machine is replaced and no
// upgrade is asked for by it.
func (i Identity) IsTold() bool {
	return i.IsOurs().Truth == machine.Unknown && i.Authority != "" && (i.Authority != External || i.Made == "")
}

// GuestIsOurs asks whether the guest that answers is the cluster that was made.
var GuestIsOurs = guard{
	Name: "GuestIsOurs",
	Doc:  "The kubeconfig is of our making and takes nobody's word but that of the Cluster's authority, or the clusterID of the guest's ClusterVersion is that of the payload. An authority that is not here counts as ours for the installer's Job only, which keeps it to itself, and only while no ID says otherwise. An ID that could not be read is not one that the guest does not tell: then nobody knows.",
	Ask:  seen(func(f Facts) machine.Answer { return f.Guest.Identity.IsOurs() }),
}
