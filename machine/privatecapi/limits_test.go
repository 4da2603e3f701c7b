package privatecapi_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/machine/machinetest"
	table "github.com/capstan-capi/capstan/machine/privatecapi"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// failures are the reasons that a move has which is undone from a state. One that is undone from another state has that of the next
// state on the way that has one.
var failures = map[machine.State]guards.Reason{
	guards.Draining: guards.ScaleDownTimeout, guards.Copying: guards.ResourceConversionFailed, guards.CopyingStatus: guards.StatusCopyFailed,
	guards.Equipping: guards.WorkloadUpdateFailed, guards.Starting: guards.ScaleUpTimeout, guards.Comparing: guards.ProxyVerifyFailed,
	guards.Observing: guards.HealthCheckTimeout,
}

// failureOf is the reason for a state of the table.
func failureOf(state machine.State) guards.Reason {
	at := slices.IndexFunc(table.Table.States, func(row machine.StateRow[phases.Works]) bool { return row.Name == state })
	for _, row := range table.Table.States[at:] {
		if reason, has := failures[row.Name]; has {
			return reason
		}
	}
	return ""
}

// limit is a way off the way: how long a state may stand still, or, where that is zero, where its failure leads.
type limit struct {
	from, to machine.State
	on       machine.Event
	lasts    time.Duration
}

// limits are all that the table has.
func limits() (all []limit) {
	for _, move := range table.Table.Moves {
		if move.Stalled == 0 && move.Failing == 0 {
			continue
		}
		for _, from := range move.From {
			all = append(all, limit{from, move.To, move.On, move.Stalled})
		}
	}
	return all
}

// hold has nothing lead on from the state of a limit: its work does nothing, or fails for good, and no event of the way is seen.
func (p *play) hold(key machine.Key, l limit) {
	held := machinetest.WithActions(table.Table, func(a machine.Action[phases.Works]) machine.Action[phases.Works] {
		if run := a.Run; run != nil {
			a.Run = func(ctx context.Context, w phases.Works) (machine.Result, error) {
				switch {
				case p.State(key) != l.from:
					return run(ctx, w)
				case l.lasts == 0:
					return machine.Result{}, machine.Terminal(errors.New("it never succeeds"))
				}
				return machine.Result{LookAgain: time.Second}, nil
			}
		}
		return a
	})
	held.Moves = nil
	for _, move := range table.Table.Moves {
		if move.Stalled == 0 && move.Failing == 0 && !move.Urgent {
			move.From = slices.DeleteFunc(slices.Clone(move.From), func(s machine.State) bool { return s == l.from })
		}
		if len(move.From) > 0 {
			held.Moves = append(held.Moves, move)
		}
	}
	p.machine.Table = held
}

const (
	// limitSteps is in how many steps a limit goes by.
	limitSteps = 30
	// spare is by how much a limit may be late: a process that has just begun makes passes for a minute first.
	spare = 70 * time.Second
)

// over runs until the limit leads away from its state, and says how long that took.
func (p *play) over(key machine.Key, l limit) (took time.Duration) {
	p.t.Helper()
	var entered time.Time
	var left *machine.Transition
	p.each = func(_ machine.Key, outcome machine.Outcome) {
		if moved := outcome.Moved; moved != nil && moved.To == l.from {
			entered = p.Now()
		} else if moved != nil && moved.From == l.from && left == nil {
			left, took = moved, p.Now().Sub(entered)
		}
	}
	defer func() { p.each = nil }()
	if !slices.Contains(forward, l.from) && slices.Contains(back, l.from) {
		p.until("observing", 5*time.Minute, p.reaches(key, guards.Observing))
		p.LoseRecord(key)
		p.restart()
		p.hold(key, l)
	}
	p.until("out of "+string(l.from), 30*time.Minute, func() bool {
		if !entered.IsZero() && left == nil {
			p.Pass(l.lasts / limitSteps) // a quarter of an hour has many seconds
		}
		return left != nil
	})
	if left.Event != l.on || left.To != l.to {
		p.t.Errorf("%s has led to %s", left.Event, left.To)
	}
	return took
}

// unblocked has time go by faster while a hosted cluster is blocked: what has failed for good is tried again only now and then.
func (p *play) unblocked(key machine.Key, is func() bool) func() bool {
	return func() bool {
		if strings.HasSuffix(string(p.State(key)), "Blocked") {
			p.Pass(time.Minute)
		}
		return is()
	}
}

// back are the states in which a move is undone.
var back = []machine.State{guards.Repausing, guards.DrainingBack, guards.CopyingBack, guards.DroppingCopies, guards.Restoring}

func TestMigration_ends_as_the_table_says_by_each_limit_and_each_failure(t *testing.T) {
	all := limits()
	if len(all) < 2*len(forward) {
		t.Fatalf("there are only %d", len(all))
	}
	for _, l := range all {
		t.Run(string(l.on+" in "+machine.Event(l.from)), func(t *testing.T) {
			p, key := waits(t)
			was := p.picture(key)
			p.hold(key, l)
			p.begin(key)
			took := p.over(key, l)
			if took < l.lasts || took > l.lasts+l.lasts/limitSteps+spare {
				t.Errorf("it has lasted %s, and the limit is %s", took, l.lasts)
			}
			switch l.to {
			case guards.Repausing:
				p.until("undone", 20*time.Minute, p.rests(key, guards.Failed))
				p.isBack(key, was, failureOf(l.from))
				return
			case guards.Unlocking:
				p.until("free", time.Minute, p.rests(key, guards.Eligible))
				p.isBack(key, was, "")
			}
			p.restart()                        // nothing is held any more
			if slices.Contains(back, l.from) { // by a lost record, see over
				p.until("undone", time.Hour, p.unblocked(key, p.rests(key, guards.Failed)))
				p.isBack(key, was, guards.AmbiguousState)
				return
			}
			p.until("moved", time.Hour, p.unblocked(key, p.rests(key, guards.Private)))
			p.isMoved(key, was)
		})
	}
}
