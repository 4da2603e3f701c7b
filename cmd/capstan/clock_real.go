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

func (timekeeper) clocks(context.Context) (clocks, error) {
	return clocks{wall: clock.RealClock{}, steady: clock.RealClock{}}, nil
}
