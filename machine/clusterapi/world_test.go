package clusterapi_test

import (
	"context"
	"testing"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	"github.com/capstan-capi/capstan/machine/machinetest"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/clusterapi/simulated"
	"github.com/capstan-capi/capstan/phases/events"
)

// world is a simulated cluster in which the real phases run, with the real store.
type world struct {
	*simulated.Cluster
	operator *phases.Phases // that runs
}

// Start starts an operator as cmd/capstan does.
func (w *world) Start() (func(context.Context, machine.Key) (guards.Facts, *phases.Pass, error), machine.Store[guards.Facts, *phases.Pass]) {
	p := w.Cluster.Start()
	w.operator = p
	return p.Observe, p.Store(table.Table, phases.Words{Conditions: table.Conditions, Line: table.Line}, w.ClusterOperators(), func(events.Event) {})
}

// LoseRecord wipes the record that is stored.
func (w *world) LoseRecord() { w.Forge(nil) }

// Do runs a command of the cluster's.
func (w *world) Do(command string, args map[string]string, _ string) (string, error) {
	return w.Cluster.Do(command, args)
}

// playedIn is how a story gets a world, with all writes of actions noted.
func playedIn(l *machinetest.Ledger[*phases.Pass]) func(*testing.T) (machine.Table[guards.Facts, *phases.Pass], machinetest.World[guards.Facts, *phases.Pass]) {
	return func(*testing.T) (machine.Table[guards.Facts, *phases.Pass], machinetest.World[guards.Facts, *phases.Pass]) {
		w := &world{Cluster: simulated.New()}
		return noted(l, w.Cluster), w
	}
}

// noted is the table, whose actions are noted while they run in a cluster.
func noted(l *machinetest.Ledger[*phases.Pass], in *simulated.Cluster) machine.Table[guards.Facts, *phases.Pass] {
	return machinetest.WithActions(table.Table, func(a machine.Action[*phases.Pass]) machine.Action[*phases.Pass] { return l.Note(a, in.Kinds) })
}
