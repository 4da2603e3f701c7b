//go:build !e2e

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"
)

// Whoever could set the manager's clock could end its deadlines and have certificates made anew.
func TestManager_has_the_real_time_and_no_flag_that_moves_it(t *testing.T) {
	managerCommand().Flags().VisitAll(func(flag *pflag.Flag) {
		if words := strings.Split(flag.Name, "-"); slices.Contains(words, "clock") || slices.Contains(words, "time") {
			t.Errorf("the manager has the flag --%s", flag.Name)
		}
	})
	wall, steady, err := timekeeper{}.clocks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := clock.WithTicker(clock.RealClock{}); wall != want || steady != want {
		t.Errorf("its clocks are %T and %T", wall, steady)
	}
}
