package clusterapi_test

import (
	"context"
	"slices"
	"testing"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/machine/machinetest"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/clusterapi/simulated"
)

// ledger notes what every action has written, by the action's name and the kind of write.
type ledger map[string]map[string]bool

// keep returns a table whose actions are noted while they run in a cluster.
func (l ledger) keep(of machine.Table[guards.Facts, *phases.Pass], in *simulated.Cluster) machine.Table[guards.Facts, *phases.Pass] {
	return machinetest.WithActions(of, func(a machine.Action[*phases.Pass]) machine.Action[*phases.Pass] {
		run := a.Run
		if run == nil {
			return a
		}
		if l[a.Name] == nil {
			l[a.Name] = map[string]bool{}
		}
		a.Run = func(ctx context.Context, p *phases.Pass) (machine.Result, error) {
			before := in.Kinds()
			result, err := run(ctx, p)
			for kind, count := range in.Kinds() {
				if count > before[kind] {
					l[a.Name][kind] = true
				}
			}
			return result, err
		}
		return a
	})
}

// check holds what was written against what the actions of a table name.
func (l ledger) check(t *testing.T, of machine.Table[guards.Facts, *phases.Pass], all bool) {
	machinetest.WithActions(of, func(a machine.Action[*phases.Pass]) machine.Action[*phases.Pass] {
		for kind := range l[a.Name] {
			if !slices.Contains(a.Writes, kind) {
				t.Errorf("%s wrote %s, which it does not name", a.Name, kind)
			}
		}
		for _, kind := range a.Writes {
			if all && !l[a.Name][kind] {
				t.Errorf("%s names %s, and never wrote it", a.Name, kind)
			}
		}
		return a
	})
}
