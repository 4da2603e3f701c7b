package bootimage

import (
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// half is how long what reads as Degraded because of boot images may stand before somebody is called.
const half = 30 * time.Minute

// Who is called to what. What a row stands for has lasted already where the table says so; the time here comes on top of it.
var (
	hasFailed = machine.Alert{
		Name: "CapstanBootImageFailed", Severity: machine.Warning, After: half,
		Summary: "Capstan cannot move the boot image of a target",
	}
	isHot = machine.Alert{
		Name: "CapstanBootImageHotLoop", Severity: machine.Warning, After: 10 * time.Minute,
		Summary: "Somebody keeps changing a boot image back that Capstan has moved",
	}
	isSkipped = machine.Alert{
		Name: "CapstanBootImageSkipped", Severity: machine.Info, After: 24 * time.Hour,
		Summary: "A boot image is not moved to the release until an administrator acts",
	}
	readingFails = machine.Alert{
		Name: "CapstanBootStubUnread", Severity: machine.Warning, After: half,
		Summary: "Capstan cannot read the Ignition stub of a target",
	}
)
