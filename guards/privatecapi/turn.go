package privatecapi

import (
	"cmp"
	"slices"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// Waiting is a HostedCluster that would take its turn, see [Wants]: when it was refused last, zero for never, and when it was
// created.
type Waiting struct {
	Key              machine.Key
	Refused, Created time.Time
}

// Next is whose turn it is: of those that wait the one that was refused least recently, and of these the oldest; empty if none
// waits.
func Next(waiting []Waiting) machine.Key {
	if len(waiting) == 0 {
		return ""
	}
	return slices.MinFunc(waiting, func(a, b Waiting) int {
		return cmp.Or(a.Refused.Compare(b.Refused), a.Created.Compare(b.Created), cmp.Compare(a.Key, b.Key))
	}).Key
}
