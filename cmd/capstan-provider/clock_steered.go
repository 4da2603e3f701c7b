//go:build e2e

package main

import (
	"context"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"

	"github.com/capstan-capi/capstan/cmd/capstan/steered"
)

// timekeeper knows the real time, and one that a file moves.
type timekeeper struct{ offsetFile string }

func (k *timekeeper) addFlags(flags *pflag.FlagSet) {
	steered.AddFlag(flags, &k.offsetFile)
}

func (k *timekeeper) clocks(ctx context.Context) (wall, steady clock.WithTicker, err error) {
	return steered.Clocks(k.offsetFile, ctx.Done())
}
