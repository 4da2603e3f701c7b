package compatibility

import (
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// Who is called to what. What a row stands for has lasted for patience already where the table says so; the time here
// comes on top of it.
var (
	isDegraded = machine.Alert{
		Name: "CapstanCompatibilityDegraded", Severity: machine.Warning, After: 10 * time.Minute,
		Summary: "Capstan cannot put a CompatibilityRequirement in force",
	}
	isOpen = machine.Alert{
		Name: "CapstanCheckerAway", Severity: machine.Warning, After: 10 * time.Minute,
		Summary: "The checker of CRDs is away, and nothing is refused for a CompatibilityRequirement",
	}
	isUnmet = machine.Alert{
		Name: "CapstanRequirementUnmet", Severity: machine.Warning, After: time.Hour,
		Summary: "A CRD lacks what a CompatibilityRequirement needs of it",
	}
	keepingFails = machine.Alert{
		Name: "CapstanCompatibilityFailing", Severity: machine.Warning, After: 10 * time.Minute,
		Summary: "Capstan cannot write the webhooks of a CompatibilityRequirement",
	}
)
