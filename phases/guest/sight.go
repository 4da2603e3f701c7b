package guest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

// sight is what was seen of a guest at one time. Two that are equal say the same.
type sight struct {
	// leads tells apart by what kubeconfig it was asked, empty for none.
	leads       string
	api, silent bool
	// problem says why the API does not answer, or what could not be read though it does.
	problem string
	// refused says that the credentials are why.
	refused bool
	// who tells whether it is the cluster that was made, and other says that it is not.
	who   guards.Identity
	other bool
	// read says that all that follows was read.
	read                bool
	complete, etcdAlone bool
	nodes               []node
	operators           []operator
	version             clusterVersion
	// kubernetes is the version of the API server, in the form v1.2.3.
	kubernetes string
	etcd       Etcd
}

// of is the sight as far as it counts for the cluster that is wanted. The word of another one must not count, least of all for good.
func (s sight) of(want wanted) sight {
	if !s.api {
		return s
	}
	s.who.Made, s.who.Installer = want.clusterID, want.installer
	ours := s.who.IsOurs()
	if ours.Truth == machine.Yes || want.finished && s.who.IsTold() {
		return s
	}
	to := sight{who: s.who, other: ours.Truth == machine.No, silent: s.silent, problem: ours.Reason}
	if !to.other {
		to.problem = cmp.Or(s.problem, ours.Reason)
	}
	return to
}

type node struct {
	name, providerID string
	ready            bool
	addresses        []string
}

// operator is a ClusterOperator, or the ClusterVersion.
type operator struct {
	name                string
	available, degraded bool
	// has is the release that it has come to, empty while that is not known.
	has string
}

// worse orders operators: what is not available comes first, and degraded ones before others.
func worse(a, b operator) int {
	rank := func(o operator) int {
		switch {
		case !o.available && o.degraded:
			return 0
		case !o.available:
			return 1
		case o.degraded:
			return 2
		}
		return 3
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.name, b.name))
}

func (o operator) String() string {
	switch {
	case !o.available && o.degraded:
		return o.name + " (not available and degraded)"
	case !o.available:
		return o.name + " (not available)"
	}
	return o.name + " (degraded)"
}

// clusterVersion is what the guest's ClusterVersion says of releases.
type clusterVersion struct {
	// there is false where the guest has none.
	there bool
	// desired is the release that it goes to or has, begun the one that it has begun to go to last, wanted the one that spec asks for, done
	// the one that it has come to.
	desired, begun, wanted, done image
	// asked is the image that this provider has asked it for last, empty for none, and given how the spec named it.
	asked, given string
	// notUpgradeable says that it is not upgradeable, and why.
	notUpgradeable bool
	why            string
}

// image is a release, by image and version; either may be empty.
type image struct{ image, version string }

// facts are what a sight says of a guest whose control-plane Machines are these.
func (s sight) facts(machines []ofMachine) guards.Guest {
	f := guards.Guest{API: s.api, APIProblem: s.problem, Silent: s.silent, Identity: s.who}
	if !s.read {
		return f
	}
	f.Known, f.Complete, f.EtcdAlone = true, s.complete, s.etcdAlone
	f.Version, f.DistributionVersion = s.kubernetes, s.version.done.version
	f.Etcd = s.etcdHealth()
	f.Nodes = guards.Tally{Known: true, Wanted: len(machines)}
	for _, m := range machines {
		if s.isReady(m) {
			f.Nodes.Done++
		} else {
			f.Nodes.Missing = append(f.Nodes.Missing, "that of Machine "+m.machine)
		}
	}
	f.Operators = guards.Tally{Known: true, Wanted: len(s.operators)}
	for _, o := range slices.SortedFunc(slices.Values(s.operators), worse) {
		if o.available && !o.degraded {
			f.Operators.Done++
		} else {
			f.Operators.Missing = append(f.Operators.Missing, o.String())
		}
	}
	return f
}

// etcdOperator is what the guest's operator of etcd is called among operators.
var etcdOperator = named("ClusterOperator", "etcd")

// etcdHealth is by its members where they were read, and by what the guest's operator says of all of them otherwise.
func (s sight) etcdHealth() guards.Etcd {
	if e := s.etcd; e.Known {
		switch {
		case len(e.Unhealthy) > 0:
			return guards.Etcd{Known: true, Wrong: "these members of etcd are not healthy: " + strings.Join(e.Unhealthy, ", ")}
		case e.Problem != "":
			return guards.Etcd{Known: true, Wrong: "what the guest says of the members of etcd: " + e.Problem}
		}
		return guards.Etcd{Known: true}
	}
	for _, o := range s.operators {
		switch {
		case o.name != etcdOperator:
		case !o.available || o.degraded:
			return guards.Etcd{Known: true, Wrong: "the guest's " + o.String()}
		default:
			return guards.Etcd{Known: true}
		}
	}
	return guards.Etcd{}
}

// isReady says that the Node of a Machine is.
func (s sight) isReady(m ofMachine) bool {
	return slices.ContainsFunc(s.nodes, func(n node) bool {
		return n.ready && (m.node != "" && n.name == m.node || m.node == "" && m.providerID != "" && n.providerID == m.providerID)
	})
}

// condition says whether one is there and True.
func condition(conditions []configv1.ClusterOperatorStatusCondition, is configv1.ClusterStatusConditionType) (yes, no bool, message string) {
	for _, c := range conditions {
		if c.Type == is {
			return c.Status == configv1.ConditionTrue, c.Status == configv1.ConditionFalse, c.Message
		}
	}
	return false, false, ""
}

// operatorOf reads what conditions and versions say.
func operatorOf(name string, conditions []configv1.ClusterOperatorStatusCondition, versions []configv1.OperandVersion) operator {
	o := operator{name: name}
	o.available, _, _ = condition(conditions, configv1.OperatorAvailable)
	o.degraded, _, _ = condition(conditions, configv1.OperatorDegraded)
	for _, v := range versions {
		if v.Name == "operator" {
			o.has = text(v.Version)
		}
	}
	return o
}

// versionOf reads a ClusterVersion.
func versionOf(v *configv1.ClusterVersion) clusterVersion {
	found := clusterVersion{there: true, desired: imageOf(v.Status.Desired.Image, v.Status.Desired.Version)}
	if asked := v.Spec.DesiredUpdate; asked != nil {
		found.wanted = imageOf(asked.Image, asked.Version)
	}
	given, by, _ := strings.Cut(v.Annotations[askedAnnotation], " ")
	found.given, found.asked = text(given), text(by)
	for i, past := range v.Status.History {
		if i == 0 {
			found.begun = imageOf(past.Image, past.Version)
		}
		if past.State == configv1.CompletedUpdate {
			found.done = imageOf(past.Image, past.Version)
			break
		}
	}
	_, not, why := condition(v.Status.Conditions, configv1.OperatorUpgradeable)
	found.notUpgradeable, found.why = not, words(why)
	return found
}

func imageOf(ref, version string) image { return image{text(ref), text(version)} }

// clusterVersionName is what the ClusterVersion is called among operators.
var clusterVersionName = named("ClusterVersion", "version")

func named(kind, name string) string { return fmt.Sprintf("%s %s", kind, name) }
