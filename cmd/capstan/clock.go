package main

import (
	"k8s.io/utils/clock"
)

// clocks are the operator's clocks: wall says what time it is and may be set
// back, steady only moves forward and times retries. Their timers agree.
type clocks struct {
	wall, steady clock.WithTicker
}
