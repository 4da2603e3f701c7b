package options

import (
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/view"
)

// Part is what a machine, or a controller without one, brings to the house.
type Part struct {
	Name string
	// Add has the manager run it.
	Add func(ctrl.Manager, Options) error
	// Kinds are those that it reads, writes or watches through the manager.
	Kinds func(Options) []house.Kind
	// View is what commands show of the machine; nil for a controller without one.
	View *view.View
	// ClusterOperator is the name of the one that the machine reports on, empty for none.
	ClusterOperator string
	// Runs says whether it runs; nil for always. One that does not has no kinds, and nothing of it is summed up.
	Runs func(Options) bool
}

// RunsBy says whether a part runs.
func (p Part) RunsBy(o Options) bool { return p.Runs == nil || p.Runs(o) }
