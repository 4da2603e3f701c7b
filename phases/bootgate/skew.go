package bootgate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	"k8s.io/apimachinery/pkg/util/version"
)

// SkewError is the reason of a cluster that cannot be upgraded for its boot images.
const SkewError = "ClusterBootImageSkewError"

// noneFrom is the oldest release whose BareMetal installations need no boot image: they install from the release's own.
var noneFrom = version.MajorMinor(4, 10)

// remedySkew ends what is told of boot images that are too old.
const remedySkew = "move the boot images to the release, and record that in spec.bootImageSkewEnforcement of MachineConfiguration cluster"

// Skew is what the recorded age of the boot images follows from. Zero values mean "nothing is known".
type Skew struct {
	// Spec is what the administrator asks for, Recorded the status as it is.
	Spec     operatorv1.BootImageSkewEnforcementConfig
	Recorded operatorv1.BootImageSkewEnforcementStatus
	// Resolved is what [Resolve] says.
	Resolved operatorv1.ManagedBootImages
	Platform configv1.PlatformType
	// SingleNode says that the control plane is one node.
	SingleNode bool
	// History is that of the release, the newest entry first; Golden is the release of the golden boot images, if they say it.
	History []configv1.UpdateHistory
	Golden  string
	// Moved says that the gate is open and no enrolled target is left to move; Skipped that one is seen that counts as skipped.
	Moved, Skipped bool
}

// Enforced is what status.bootImageSkewEnforcementStatus has to be.
func (s Skew) Enforced() operatorv1.BootImageSkewEnforcementStatus {
	switch {
	case s.Spec.Mode == operatorv1.BootImageSkewEnforcementConfigModeManual:
		return operatorv1.BootImageSkewEnforcementStatus{Mode: operatorv1.BootImageSkewEnforcementModeStatusManual, Manual: s.Spec.Manual}
	case s.Spec.Mode == operatorv1.BootImageSkewEnforcementConfigModeNone, s.SingleNode, s.installsItself():
		return operatorv1.BootImageSkewEnforcementStatus{Mode: operatorv1.BootImageSkewEnforcementModeStatusNone}
	case s.allResolved():
		return operatorv1.BootImageSkewEnforcementStatus{
			Mode:      operatorv1.BootImageSkewEnforcementModeStatusAutomatic,
			Automatic: operatorv1.ClusterBootImageAutomatic{OCPVersion: s.oldest()},
		}
	}
	return operatorv1.BootImageSkewEnforcementStatus{
		Mode:   operatorv1.BootImageSkewEnforcementModeStatusManual,
		Manual: operatorv1.ClusterBootImageManual{Mode: operatorv1.ClusterBootImageSpecModeOCPVersion, OCPVersion: s.installed()},
	}
}

// installsItself says that hosts are installed by the release's own image.
func (s Skew) installsItself() bool {
	installed, err := releaseOf(s.installed())
	return s.Platform == configv1.BareMetalPlatformType && err == nil && installed.AtLeast(noneFrom)
}

// allResolved says that every MachineSet of the Machine API is enrolled.
func (s Skew) allResolved() bool {
	return slices.ContainsFunc(s.Resolved.MachineManagers, func(m operatorv1.MachineManager) bool {
		return m.Resource == operatorv1.MachineSets && m.APIGroup == operatorv1.MachineAPI && m.Selection.Mode == operatorv1.All
	})
}

// oldest is the release of the oldest boot image: what has moved is of the golden one, and one that is skipped may be of
// that of the installation. As long as something moves it is the recorded one.
func (s Skew) oldest() string {
	recorded := s.Recorded.Automatic.OCPVersion
	switch {
	case s.Skipped:
		return s.installed()
	case s.Moved && (s.Golden != "" || len(s.History) > 0):
		if s.Golden != "" {
			return xyz(s.Golden)
		}
		return xyz(s.History[0].Version)
	case s.Recorded.Mode == operatorv1.BootImageSkewEnforcementModeStatusAutomatic && recorded != "":
		return recorded
	}
	return s.installed()
}

// installed is the release that the cluster was installed with: the oldest one that was completed, or else the oldest one.
func (s Skew) installed() string {
	for _, entry := range slices.Backward(s.History) {
		if entry.State == configv1.CompletedUpdate {
			return xyz(entry.Version)
		}
	}
	if len(s.History) > 0 {
		return xyz(s.History[len(s.History)-1].Version)
	}
	return unknownRelease
}

// Upgradeable says whether the next upgrade can do with the boot images. Reason is empty for one that can.
type Upgradeable struct {
	Is              bool
	Reason, Message string
}

// Targets is what of the targets the answer depends on.
type Targets struct {
	// Settled says that the gate is open and nothing moves; Stuck names targets that are Failed or in a HotLoop.
	Settled bool
	Stuck   []string
}

// Judge says whether the cluster can be upgraded; before is the answer up to now, nil for none. Ours says that this
// operator manages the boot images of the Machine API: about those of others it says nothing.
func Judge(ours bool, enforced operatorv1.BootImageSkewEnforcementStatus, limits Limits, targets Targets, before *Upgradeable) Upgradeable {
	switch {
	case !ours:
		return Upgradeable{Is: true}
	case enforced.Mode == operatorv1.BootImageSkewEnforcementModeStatusNone:
		return Upgradeable{Is: true, Message: "the age of the boot images is not watched: old ones may not join after an upgrade"}
	case enforced.Mode == operatorv1.BootImageSkewEnforcementModeStatusManual:
		manual := enforced.Manual
		answer, err := limits.compare(manual.OCPVersion, manual.RHCOSVersion)
		if err != nil {
			return Upgradeable{Is: true, Message: fmt.Sprintf("the recorded version of the boot images cannot be read: %v; correct spec.bootImageSkewEnforcement of MachineConfiguration cluster", err)}
		}
		return answer
	case !targets.Settled && before != nil:
		return *before
	}
	automatic := enforced.Automatic
	answer, err := limits.compare(automatic.OCPVersion, automatic.RHCOSVersion)
	switch {
	case targets.Settled && len(targets.Stuck) > 0:
		return Upgradeable{Reason: SkewError, Message: "boot images of " + listed(targets.Stuck) + " cannot be moved to the release: capstan status boot-images says why"}
	case err != nil:
		return Upgradeable{Reason: SkewError, Message: fmt.Sprintf("the recorded version of the boot images cannot be read: %v", err)}
	}
	return answer
}

// compare says whether what is recorded of the boot images is within the limits. What is empty does not count.
func (l Limits) compare(release, rhcos string) (Upgradeable, error) {
	if release == "" && rhcos == "" {
		return Upgradeable{}, errors.New("neither a release nor a version of RHCOS is recorded")
	}
	var old string
	if release != "" {
		is, err := releaseOf(release)
		if err != nil {
			return Upgradeable{}, err
		}
		if is.LessThan(l.Release) {
			old = fmt.Sprintf("release %s, and at least %s", release, l.Release)
		}
	}
	if rhcos != "" {
		is, err := rhelOf(rhcos)
		if err != nil {
			return Upgradeable{}, err
		}
		if is.LessThan(l.RHEL) {
			old = cmp.Or(old, fmt.Sprintf("RHCOS %s, that is RHEL %s, and at least RHEL %s", rhcos, is, l.RHEL))
		}
	}
	if old != "" {
		return Upgradeable{Reason: SkewError, Message: "the oldest boot image is of " + old + " is needed: " + remedySkew}, nil
	}
	return Upgradeable{Is: true}, nil
}
