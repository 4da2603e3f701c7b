package house

import (
	"context"
	"errors"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/recorder"
)

func TestFlightTeller_records_no_quiet_move_that_worked(t *testing.T) {
	moved := machine.Outcome{Moved: &machine.Transition{From: "Deciding", To: "Current", Event: "AsWanted"}}
	failed := moved
	failed.Failure = errors.New("no")
	for name, row := range map[string]struct {
		pass Pass
		want bool
	}{
		"a move":                  {Pass{Outcome: moved}, true},
		"a quiet one":             {Pass{Outcome: moved, Words: Words{Quiet: true}}, false},
		"quiet work with a deed":  {Pass{Outcome: machine.Outcome{Work: "Work", Did: "something"}, Words: Words{Quiet: true}}, true},
		"a quiet one that failed": {Pass{Outcome: failed, Words: Words{Quiet: true}}, true},
		"no pass":                 {Pass{Err: errors.New("no"), Words: Words{Quiet: true}}, true},
	} {
		scheme := runtime.NewScheme()
		if err := corev1.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		c, key := fake.NewClientBuilder().WithScheme(scheme).Build(), client.ObjectKey{Namespace: "ops", Name: recorder.ConfigMap}
		f := &flightTeller{recorder: recorder.New(c, c, key, clock.RealClock{}, logr.Discard()), machine: "bootimage"}
		f.Tell(t.Context(), row.pass)
		ended, end := context.WithCancel(t.Context())
		end()
		if err := f.recorder.Run(ended); err != nil { // what was added is written at the end
			t.Fatal(err)
		}
		err := c.Get(t.Context(), key, &corev1.ConfigMap{})
		if client.IgnoreNotFound(err) != nil || apierrors.IsNotFound(err) == row.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
