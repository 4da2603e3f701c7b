//go:build !e2e

package main

import (
	"context"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"
)

// timekeeper knows the real time, and no other.
type timekeeper struct{}

func (timekeeper) addFlags(*pflag.FlagSet) {}

// clocks are the manager's: wall says what time it is and may be set back, steady only moves forward and times retries.
func (timekeeper) clocks(context.Context) (wall, steady clock.WithTicker, err error) {
	return clock.RealClock{}, clock.RealClock{}, nil
}
