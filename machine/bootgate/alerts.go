package bootgate

import (
	"time"

	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/bootgate"
)

// half is how long what reads as Degraded because of boot images may stand before somebody is called.
const half = 30 * time.Minute

// Who is called to what. What a row stands for has lasted already where the table says so; the time here comes on top of it.
var (
	configIsOverdue = machine.Alert{
		Name: "CapstanBootConfigOverdue", Severity: machine.Warning, After: half,
		Summary: "The status of MachineConfiguration cluster does not follow its spec, and no boot image is moved",
	}
	goldenIsBroken = machine.Alert{
		Name: "CapstanGoldenBroken", Severity: machine.Warning, After: half,
		Summary: "The release's boot images cannot be read, and no boot image is moved",
	}
	voucherIsOverdue = machine.Alert{
		Name: "CapstanBootVoucherOverdue", Severity: machine.Warning, After: half,
		Summary: "The boot images in coreos-bootimages are not those of the release, and none is moved",
	}
	configIsWrong = machine.Alert{
		Name: "CapstanBootConfigWrong", Severity: machine.Warning, After: half,
		Summary: "MachineConfiguration cluster is claimed by somebody else, or has an annotation that cannot be read",
	}
	keepingFails = machine.Alert{
		Name: "CapstanBootGateFailing", Severity: machine.Warning, After: half,
		Summary: "Capstan cannot write the status of MachineConfiguration cluster or ConfigMap capstan-known-images, or retire clones",
	}
)

// notices stand beside all states.
var notices = []machine.Notice[*phases.Pass]{
	{
		Name: "shut", Count: (*phases.Pass).Shut,
		Alert: machine.Alert{
			Name: "CapstanBootGateShut", Severity: machine.Warning, After: 2 * time.Hour,
			Summary: "The release has been complete for two hours, and boot images may not be moved yet",
		},
		Doc: "The release is complete and boot images may not be moved, whichever of the questions is not answered with Yes meanwhile.",
	},
	{
		Name: "unwatched", Count: (*phases.Pass).Unwatched,
		Alert: machine.Alert{
			Name: "CapstanBootImagesUnwatched", Severity: machine.Info, After: time.Hour,
			Summary: "Nobody watches how old the boot images are",
		},
		Doc: "The mode of skew enforcement is None, so upgrades are not held up for old boot images, whose machines may not join.",
	},
}
