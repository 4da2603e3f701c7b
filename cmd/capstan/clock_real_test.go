//go:build !e2e

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"
)

// Whoever could set the operator's clock could end its deadlines and its Lease.
func TestOperator_has_the_real_time_and_no_flag_that_moves_it(t *testing.T) {
	cmd, _, err := root().Find([]string{"operator"})
	if err != nil {
		t.Fatal(err)
	}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if words := strings.Split(flag.Name, "-"); slices.Contains(words, "clock") || slices.Contains(words, "time") {
			t.Errorf("the operator has the flag --%s", flag.Name)
		}
	})
	got, err := timekeeper{}.clocks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := clock.WithTicker(clock.RealClock{}); got.wall != want || got.steady != want {
		t.Errorf("its clocks are %T and %T", got.wall, got.steady)
	}
}
