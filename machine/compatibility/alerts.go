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

// Unreachable calls somebody to a checker that API servers cannot reach although it is ready. No state tells it: nothing asks for
// it at rest. The API servers count what they refuse for want of an answer.
var Unreachable = machine.Call{
	Alert: machine.Alert{
		Name: "CapstanCheckerUnreachable", Severity: machine.Warning, After: 10 * time.Minute,
		Summary: "API servers refuse writes because they cannot reach Capstan's checker of CRDs",
	},
	Doc: "API servers refuse writes that CompatibilityRequirements govern, since no answer of the checker reaches them. `capstan disarm --yes --for 15m` lets these writes pass.",
}
