package house

import (
	"errors"
	"testing"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
)

func TestLoggers_say_the_same_as_those_that_take_values_at_once(t *testing.T) {
	var lines []string
	log := funcr.New(func(prefix, args string) { lines = append(lines, prefix+" "+args) }, funcr.Options{Verbosity: 1})
	of := loggers(log, "m")
	of(nil).Info("starting")
	pass := of(&ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "n", Name: "o"}}).WithValues("reconcileID", "i")
	other := pass.WithValues("a", 1)
	pass.WithValues("b", 2).WithName("part").Info("moved", "to", "Open")
	other.Error(errors.New("rust"), "stuck")
	pass.V(5).Info("too much")
	want := []string{
		` "level"=0 "msg"="starting" "controller"="m"`,
		`part "level"=0 "msg"="moved" "controller"="m" "namespace"="n" "name"="o" "reconcileID"="i" "b"=2 "to"="Open"`,
		` "msg"="stuck" "error"="rust" "controller"="m" "namespace"="n" "name"="o" "reconcileID"="i" "a"=1`,
	}
	if len(lines) != len(want) {
		t.Fatalf("got %q", lines)
	}
	for i := range want {
		if lines[i] != want[i] {
			t.Errorf("got  %s\nwant %s", lines[i], want[i])
		}
	}
}
