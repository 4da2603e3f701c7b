package bootgate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/machine"
)

// maxListed bounds what a reason lists, in bytes.
const maxListed = 512

// completed is the state of a release whose upgrade has ended.
const completed = "Completed"

// platforms are those with boot images that are known here.
var platforms = []string{"AWS", "Azure", "GCP", "VSphere"}

type guard = machine.Guard[Facts]

// sighted asks only what can be looked at.
func sighted(ask func(Facts) machine.Answer) func(Facts) machine.Answer {
	return func(f Facts) machine.Answer {
		if f.Blind != "" {
			return machine.SayUnknown(f.Blind)
		}
		return ask(f)
	}
}

// Applies asks whether there is anything to manage boot images by.
var Applies = guard{
	Name: "Applies",
	Doc:  "MachineConfiguration cluster exists, and the platform is AWS, Azure (but not Azure Stack Hub), GCP or VSphere.",
	Ask: sighted(func(f Facts) machine.Answer {
		switch {
		case f.Config.Seen && f.Config.Absent:
			return machine.SayNo(Config + " does not exist, which says which boot images may be changed: create it")
		case f.Platform.Known && f.Platform.StackHub:
			return machine.SayNo("boot images are not managed on Azure Stack Hub: record theirs in spec.bootImageSkewEnforcement of " + Config)
		case f.Platform.Known && !slices.Contains(platforms, f.Platform.Name):
			return machine.SayNo(fmt.Sprintf("boot images are not managed on platform %s, but on %s: record theirs in spec.bootImageSkewEnforcement of %s",
				orNone(f.Platform.Name), strings.Join(platforms, ", "), Config))
		case !f.Config.Seen:
			return machine.SayUnknown(Config + " has not been looked for yet")
		case !f.Platform.Known:
			return machine.SayUnknown("Infrastructure cluster has not said yet what the platform is")
		}
		return machine.SayYes("boot images are managed on " + f.Platform.Name)
	}),
}

// ConfigIsResolved asks whether the status of the MachineConfiguration is that of its spec.
var ConfigIsResolved = guard{
	Name: "ConfigIsResolved",
	Doc:  "The status of MachineConfiguration cluster is what its spec resolves to. Where somebody else writes that status, its observedGeneration is that of the spec, or was never written.",
	Ask: sighted(func(f Facts) machine.Answer {
		c := f.Config
		switch {
		case !c.Seen || c.Absent || !c.Known:
			return machine.SayUnknown("nobody can tell yet what " + Config + " resolves to")
		case c.Ours && c.Differs != "":
			return machine.SayNo("status of " + Config + ": " + machine.Shorten(c.Differs, maxListed))
		case !c.Ours && c.Observed != 0 && c.Observed != c.Generation:
			return machine.SayNo(fmt.Sprintf("the status of %s is of generation %d, and its spec of %d: look at the logs of the machine-config operator, which writes it",
				Config, c.Observed, c.Generation))
		}
		return machine.SayYes(Config + " is resolved")
	}),
}

// ReleaseIsComplete asks whether no upgrade is under way.
var ReleaseIsComplete = guard{
	Name: "ReleaseIsComplete",
	Doc:  "The newest entry in the history of ClusterVersion version is Completed.",
	Ask: sighted(func(f Facts) machine.Answer {
		switch r := f.Release; {
		case !r.Seen:
			return machine.SayUnknown(Release + " has not been read yet")
		case r.Name == "":
			return machine.SayNo(Release + " has no history yet")
		case r.State != completed:
			return machine.SayNo(fmt.Sprintf("the upgrade to %s is %s, not %s", r.Name, orNone(r.State), completed))
		}
		return machine.SayYes("release " + f.Release.Name + " is complete")
	}),
}

// GoldenIsReadable asks whether it can be read which boot images the release brings.
var GoldenIsReadable = guard{
	Name: "GoldenIsReadable",
	Doc:  "ConfigMap coreos-bootimages in openshift-machine-config-operator exists, and its key stream can be read.",
	Ask: sighted(func(f Facts) machine.Answer {
		switch g := f.Golden; {
		case !g.Seen:
			return machine.SayUnknown(Golden + " has not been looked for yet")
		case g.Absent:
			return machine.SayNo(Golden + " does not exist: the release brings it, so see that the cluster-version operator runs")
		case g.Problem != "":
			return machine.SayNo(Golden + " cannot be read: " + machine.Shorten(g.Problem, maxListed) + "; delete it, and the cluster-version operator makes it anew")
		}
		return machine.SayYes("the golden boot images can be read")
	}),
}

// GoldenIsVouched asks whether the golden boot images are those of the release that is complete.
var GoldenIsVouched = guard{
	Name: "GoldenIsVouched",
	Doc:  "What releaseVersion and MCOReleaseImageVersion of ConfigMap coreos-bootimages say, where they are present, is the version of the newest entry in the release's history.",
	Ask: sighted(func(f Facts) machine.Answer {
		if !f.Golden.Seen || f.Golden.Absent || !f.Release.Seen || f.Release.Name == "" {
			return machine.SayUnknown("nobody can tell yet which release the golden boot images are of")
		}
		var others []string
		for _, key := range slices.Sorted(maps.Keys(f.Golden.Vouchers)) {
			if says := f.Golden.Vouchers[key]; says != f.Release.Name {
				others = append(others, fmt.Sprintf("%s is %q", key, machine.Shorten(says, maxListed/4)))
			}
		}
		if len(others) > 0 {
			return machine.SayNo(fmt.Sprintf("%s is not of release %s: %s; the machine-config operator writes that once its pools have the release",
				Golden, f.Release.Name, strings.Join(others, ", ")))
		}
		return machine.SayYes("the golden boot images are those of release " + f.Release.Name)
	}),
}

// GoldenIsKnown asks whether it will be known later that the golden boot images were a release's own: when the next release comes,
// nothing else tells that of the image of a target.
var GoldenIsKnown = guard{
	Name: "GoldenIsKnown",
	Doc:  "The golden boot images are among those in ConfigMap capstan-known-images.",
	Ask: sighted(func(f Facts) machine.Answer {
		switch g := f.Golden; {
		case !g.Seen || g.Absent || g.Problem != "":
			return machine.SayUnknown("nobody can tell yet what the golden boot images are")
		case !g.Known:
			return machine.SayNo("the golden boot images are not among the known ones yet: " + Known + " has to be written first")
		}
		return machine.SayYes("the golden boot images are among the known ones")
	}),
}

// ConfigHasProblems asks whether an administrator has to mend something of the MachineConfiguration.
var ConfigHasProblems = guard{
	Name: "ConfigHasProblems",
	Doc:  "Somebody else claims the status of MachineConfiguration cluster, or an annotation of it cannot be read.",
	Ask: sighted(func(f Facts) machine.Answer {
		switch {
		case len(f.Config.Problems) > 0:
			return machine.SayYes(machine.Shorten(strings.Join(f.Config.Problems, "; "), maxListed))
		case !f.Config.Seen || !f.Config.Absent && !f.Config.Known:
			return machine.SayUnknown("")
		}
		return machine.SayNo("")
	}),
}

// opening are the questions that the gate asks before the golden images are made known.
var opening = []machine.Guard[Facts]{Applies, ConfigIsResolved, ReleaseIsComplete, GoldenIsReadable, GoldenIsVouched}

// Questions are those that the gate asks, in their order.
var Questions = append(slices.Clone(opening), GoldenIsKnown)

// MayOpen answers whether nothing but that the golden images are known is left to ask.
func MayOpen(f Facts) machine.Answer { return machine.All(opening...).Answer(f) }

// IsOpen answers whether targets may be moved: Yes to every question that the gate asks, and to what it sees to when it opens.
func IsOpen(f Facts) machine.Answer { return machine.All(Questions...).Answer(f) }

// ShutAfterRelease says that the gate is not open, or that nobody can tell, although it applies and the release is complete.
func ShutAfterRelease(f Facts) bool {
	return machine.All(Applies, ReleaseIsComplete).Answer(f).Truth == machine.Yes && IsOpen(f).Truth != machine.Yes
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
