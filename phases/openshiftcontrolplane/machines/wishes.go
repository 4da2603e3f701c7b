package machines

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/collections"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

const (
	// most is how many control-plane Machines there may be at most, one in its place for each.
	most = 16
	// farthest is more steps than any change of Machines takes, two for each, so that what is left can be told as what is done.
	farthest = 2 * most
)

// scaling is what is asked for of the number of control-plane Machines: that there be as many as the spec says, each with a Node.
func (s *Seen) scaling() guards.Wish {
	wish := guards.Wish{Known: true}
	if !s.hooks() {
		return wish
	}
	left := s.left(guards.Scaling)
	if len(left) == 0 {
		return wish
	}
	wish.Asked = fmt.Sprintf("a control plane of %d Machines", s.replicas())
	if !s.takesBack() {
		wish.Refused = s.refusal(nil)
	}
	wish.Steps = guards.Tally{Known: true, Done: max(farthest-len(left), 0), Wanted: farthest, Missing: left}
	return wish
}

// takesBack says that what goes next has no member of etcd, so that nobody has to be healthy for it: it is half made, or has never been
// a Node, and no such machine is asked for any more.
func (s *Seen) takesBack() bool {
	c := s.control(false, s.halfMade(), s.coming(), nil)
	c.Fresh = true // it is asked again of what was read just then
	step := guards.NextStep(c)
	return step == guards.TakeBack || step == guards.RemoveComing
}

// active is how many control-plane Machines there are of which none is on its way out.
func (s *Seen) active() int {
	count := 0
	for _, one := range s.masters {
		if one.DeletionTimestamp.IsZero() {
			count++
		}
	}
	return count
}

// remediation is what is asked for of an unhealthy Machine: that another one be there in its place. Where it is gone and its place
// is empty, only the state tells that this is no scaling.
func (s *Seen) remediation() guards.Wish {
	wish := guards.Wish{Known: true}
	if !s.hooks() {
		return wish
	}
	var left []string
	if s.isIn(guards.Remediating) {
		left = s.left(guards.Remediating)
	}
	one := s.unhealthy()
	if one != nil {
		left = append(left, "another one in place of Machine "+one.Name)
		wish.Refused = s.refusal(one)
	}
	if len(left) == 0 {
		return wish
	}
	wish.Asked = "the replacement of a control-plane Machine"
	wish.Steps = guards.Tally{Known: true, Done: max(farthest-len(left), 0), Wanted: farthest, Missing: left}
	return wish
}

// left are the steps that are left until there are as many Machines as asked for; that there are too many is a matter of scaling.
func (s *Seen) left(state machine.State) []string {
	var left []string
	active := s.active()
	for _, one := range s.masters {
		switch node := s.node(one); {
		case !one.DeletionTimestamp.IsZero():
			left = append(left, "the end of Machine "+one.Name)
		case !one.Status.NodeRef.IsDefined(), s.isIn(state) && s.guest.Known && (node == nil || !node.Ready):
			left = append(left, "the Node of Machine "+one.Name)
		}
	}
	for range max(s.replicas()-active, 0) {
		left = append(left, "one Machine more", "its Node")
	}
	if state != guards.Scaling {
		return left
	}
	for range max(active-s.replicas(), 0) {
		left = append(left, "one Machine less", "its end")
	}
	if half := s.halfMade(); half != nil && active >= s.replicas() {
		left = append(left, "the end of what was begun of Machine "+half.name)
	}
	return left
}

// unhealthy is the first Machine that was found to be unhealthy and is left to its owner to replace, nil for none.
func (s *Seen) unhealthy() *clusterv1.Machine {
	for _, one := range s.masters {
		if one.DeletionTimestamp.IsZero() && collections.IsUnhealthyAndOwnerRemediated(one) {
			return one
		}
	}
	return nil
}

// refusal says why no Machine may be created or deleted now, empty if one may. All Nodes and members of etcd have to be healthy, but
// for those of a Machine that is to go, and of one that is on its way.
func (s *Seen) refusal(goes *clusterv1.Machine) string {
	switch {
	case !s.guest.Known:
		return "the guest's Nodes are not known"
	case !s.guest.Etcd.Known:
		return "the guest's etcd is not known"
	}
	excused := map[string]bool{}
	for _, one := range s.masters {
		node := s.node(one)
		switch {
		case !one.DeletionTimestamp.IsZero():
			return "Machine " + one.Name + " is being deleted"
		case goes != nil && one.Name == goes.Name, goes == nil && !one.Status.NodeRef.IsDefined():
			excuse(excused, one, node)
		case node == nil:
			return "Machine " + one.Name + " has no Node"
		case !node.Ready:
			return "Node " + node.Name + " is not Ready"
		}
	}
	for _, member := range s.guest.Etcd.Unhealthy {
		if !excused[member] {
			return "etcd's member " + member + " is not healthy"
		}
	}
	if s.guest.Etcd.Problem != "" {
		return "etcd is not healthy: " + s.guest.Etcd.Problem
	}
	if all := len(s.masters); goes != nil && all-1 < all/2+1 {
		return fmt.Sprintf("without Machine %s there is no quorum of %d", goes.Name, all)
	}
	return ""
}

// excuse notes the names that etcd's member on a Machine may have.
func excuse(excused map[string]bool, one *clusterv1.Machine, node *Node) {
	if node != nil {
		excused[node.Name] = true
	}
	if one.Status.NodeRef.IsDefined() {
		excused[one.Status.NodeRef.Name] = true
	}
	for _, at := range one.Status.Addresses {
		excused[at.Address] = true
	}
}

// isIn says that the record has a state. Where it is lost, what is left of a remediation is a scaling.
func (s *Seen) isIn(state machine.State) bool { return s.facts.Then.State == state }

// coming is a Machine that has no Node yet, nil for none.
func (s *Seen) coming() *clusterv1.Machine {
	for _, one := range s.masters {
		if one.DeletionTimestamp.IsZero() && !one.Status.NodeRef.IsDefined() {
			return one
		}
	}
	return nil
}

// halfMade is the control-plane machine that has a config and no Machine yet, nil for none. One that a Machine controls had one, whose
// end may be seen before that of the config.
func (s *Seen) halfMade() *wanted {
	for i := range most {
		name := masterName(s.look.Plane.Name, i)
		if config := s.configs[name]; config != nil && metav1.GetControllerOfNoCopy(config) == nil && s.master(name) == nil {
			half := s.wantedMaster(i)
			return &half
		}
	}
	return nil
}

// free is the lowest number that no control-plane Machine has.
func (s *Seen) free() int {
	for i := range most {
		if s.master(masterName(s.look.Plane.Name, i)) == nil {
			return i
		}
	}
	return most
}

// surplus is the Machine that goes first where there are too many: one that has no Node, one that somebody has chosen, one that is
// unhealthy, or the one that was made last.
func (s *Seen) surplus() *clusterv1.Machine {
	rank := func(one *clusterv1.Machine) int {
		_, chosen := one.Annotations[clusterv1.DeleteMachineAnnotation]
		switch {
		case !one.Status.NodeRef.IsDefined():
			return 0
		case chosen:
			return 1
		case collections.IsUnhealthy(one):
			return 2
		}
		return 3
	}
	return slices.MinFunc(s.masters, func(a, b *clusterv1.Machine) int {
		if by := rank(a) - rank(b); by != 0 {
			return by
		}
		return strings.Compare(b.Name, a.Name)
	})
}
