// Package legacyoperator holds the facts that the machine legacyoperator decides on, and the questions
// it asks of them. Nothing here looks, waits or remembers.
package legacyoperator

import (
	"fmt"
	"strings"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// maxListed bounds what a reason lists, in bytes.
const maxListed = 512

// Facts is what one look at all HostedClusters and at the old operator has shown. Zero values mean "not seen".
type Facts struct {
	// Seen says that all HostedClusters were looked at; Others names those that are not the new operator's alone, each with why.
	Seen   bool     `yaml:"seen"`
	Others []string `yaml:"others"`
	// Enabled says that there is the ConfigMap by which the programme is enabled.
	Enabled bool `yaml:"enabled"`
	// Retention is for how long the old operator is kept after the last move, so that it can be undone.
	Retention Retention `yaml:"retention"`
	// Operator is what is there of the old operator.
	Operator Operator `yaml:"operator"`
}

// Retention says until when the old operator is kept, and whether that is over. Known is false until the ConfigMap of the
// programme was read; Problem says why it cannot be.
type Retention struct {
	Known   bool      `yaml:"known"`
	Problem string    `yaml:"problem"`
	Over    bool      `yaml:"over"`
	Until   time.Time `yaml:"until"`
}

// Operator names the objects that are there of the old operator, its pods included. Known is false until they were looked for.
type Operator struct {
	Known bool     `yaml:"known"`
	Left  []string `yaml:"left"`
}

type guard = machine.Guard[Facts]

// AllPrivate asks whether the old operator has nothing left to reconcile.
var AllPrivate = guard{
	Name: "AllPrivate",
	Doc:  "The programme is enabled, and every HostedCluster is reconciled by the new operator or will be; none is locked, and none has a failed move.",
	Ask: func(f Facts) machine.Answer {
		switch {
		case !f.Seen:
			return machine.SayUnknown("the HostedClusters have not been looked at yet")
		case !f.Enabled:
			return machine.SayNo("nobody has enabled the programme of private types")
		case len(f.Others) > 0:
			return machine.SayNo(fmt.Sprintf("%d not of the new operator alone: %s", len(f.Others), list(f.Others)))
		}
		return machine.SayYes("every HostedCluster has private types")
	},
}

// RetentionOver asks whether the old operator has been kept for long enough.
var RetentionOver = guard{
	Name: "RetentionOver",
	Doc:  "The time of retention that the programme's ConfigMap gives, a week where it gives none, has passed since the last HostedCluster moved.",
	Ask: func(f Facts) machine.Answer {
		switch r := f.Retention; {
		case !r.Known && r.Problem != "":
			return machine.SayUnknown(r.Problem)
		case !r.Known:
			return machine.SayUnknown("it is not known yet for how long the old operator is kept")
		case !r.Over && r.Until.IsZero():
			return machine.SayNo("it has not been noted yet since when nobody needs the old operator")
		case !r.Over:
			return machine.SayNo("the old operator is kept until " + machine.Moment(r.Until))
		}
		return machine.SayYes("the time of retention is over")
	},
}

// OperatorGone asks whether anything is left of the old operator.
var OperatorGone = guard{
	Name: "OperatorGone",
	Doc:  "The old operator has no replicas and no pods; its Deployment stays.",
	Ask: func(f Facts) machine.Answer {
		switch o := f.Operator; {
		case !o.Known:
			return machine.SayUnknown("the old operator has not been looked for yet")
		case len(o.Left) > 0:
			return machine.SayNo("still there: " + list(o.Left))
		}
		return machine.SayYes("the old operator is gone")
	},
}

func list(some []string) string { return machine.Shorten(strings.Join(some, "; "), maxListed) }
