package openshiftcontrolplane

// Control is what there is of a control plane whose Machines are being changed, one at a time, as the API server itself has it.
type Control struct {
	// Replaces says that an unhealthy Machine is to be replaced, and not that there is to be another number.
	Replaces bool
	// Wanted is how many Machines are asked for, All how many there are, and Active those of them that are not being deleted.
	Wanted, All, Active int
	// HalfMade says that something of a Machine was begun that is not there.
	HalfMade bool
	// Coming is a Machine that has no Node yet, empty for none; ComingIsOut says that it is known to have no member of etcd.
	Coming      string
	ComingIsOut bool
	// Unhealthy is the Machine that is to be replaced, empty for none.
	Unhealthy string
	// Fresh says that the guest's Nodes and etcd were read a moment ago, and Refused why nothing else may be done with them as they are.
	Fresh   bool
	Refused string
}

// Step is what is done next of a change of Machines.
type Step string

// The steps.
const (
	// Wait does nothing: something has to come or to go by itself.
	Wait Step = "Wait"
	// MakeWhole makes what is half made a Machine, and TakeBack deletes it.
	MakeWhole Step = "MakeWhole"
	TakeBack  Step = "TakeBack"
	// MendComing makes whole what belongs to a Machine that is on its way, and RemoveComing deletes it.
	MendComing   Step = "MendComing"
	RemoveComing Step = "RemoveComing"
	// RemoveUnhealthy, MakeAnother and RemoveSurplus change the number of Machines by one.
	RemoveUnhealthy Step = "RemoveUnhealthy"
	MakeAnother     Step = "MakeAnother"
	RemoveSurplus   Step = "RemoveSurplus"
)

// NextStep says what is done next. What was begun is brought to its end, or taken back, before anything else: two changes at once could
// take the quorum. A Machine that is not asked for any more and never was a member of etcd goes whatever is the matter with the others.
func NextStep(c Control) Step {
	surplus := !c.Replaces && c.Active > c.Wanted
	switch {
	case c.HalfMade && c.Active >= c.Wanted:
		return TakeBack
	case c.HalfMade:
		return MakeWhole
	case c.isComing() && !surplus:
		return MendComing
	case c.isComing() && c.Fresh && c.ComingIsOut:
		return RemoveComing
	case !c.Fresh || c.Refused != "":
		return Wait
	case c.Replaces && c.Unhealthy != "":
		return RemoveUnhealthy
	case c.All < c.Wanted:
		return MakeAnother
	case !c.Replaces && c.All > c.Wanted:
		return RemoveSurplus
	}
	return Wait
}

// isComing says that a Machine is on its way that is not the one to be replaced.
func (c Control) isComing() bool { return c.Coming != "" && (!c.Replaces || c.Coming != c.Unhealthy) }
