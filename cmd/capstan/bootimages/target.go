package bootimages

import (
	"context"
	"slices"
	"time"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/bootimage"
	phasesgate "github.com/capstan-capi/capstan/phases/bootgate"
	phases "github.com/capstan-capi/capstan/phases/bootimage"
)

// ofTheProcess are questions that only the process which has made the plan can answer, ofFailure those that are asked of a target
// that has failed.
var (
	ofTheProcess = []string{guards.PlanStands.Name, guards.WriteIsSeen.Name}
	ofFailure    = []string{guards.CauseIsGone.Name, guards.InputChanged.Name}
)

// target is one that was looked at.
type target struct {
	key  machine.Key
	shot phases.Snapshot
	// recorded is the state that the operator has told, empty for none, and since when it is known that it is in it.
	recorded machine.State
	// stored says that its record is stored, and written when its ConfigMap was written last.
	stored  bool
	written time.Time
	// next is a move that is the operator's to make.
	next     *machine.Move[guards.Facts, *phases.Pass]
	standing phases.Standing
}

// lookAt looks at a target, nil if it is gone. What only the process knows that has planned a write is not known here.
func (l *Look) lookAt(ctx context.Context, key machine.Key) (*target, error) {
	facts, pass, err := l.images.Observe(ctx, key)
	if err != nil || pass.Target == nil {
		return nil, err
	}
	facts.Plan, facts.Write = guards.Plan{}, guards.Write{}
	t := &target{key: key}
	record, err := l.base(ctx, t, pass, facts)
	if err != nil {
		return nil, err
	}
	t.written = l.from.written(l.records.ConfigMapOf(key))
	led, err := follow(table.Table, record, facts, l.Now())
	if err != nil {
		return nil, err
	}
	t.next = led.next
	t.shot = phases.Snapshot{Record: led.record, Facts: led.facts, Seen: pass}
	return t, nil
}

// base is the record from which the guards lead on: the stored one; or the state that the operator tells; or that of a target of
// which it tells nothing, since it has the wanted image or does not count; or else the first one.
func (l *Look) base(ctx context.Context, t *target, pass *phases.Pass, facts guards.Facts) (machine.Record, error) {
	record, found, err := l.records.Load(ctx, t.key)
	if err != nil {
		return record, err
	}
	if _, known := table.Table.State(record.State); found && known && record.UID == pass.UID {
		t.stored, t.recorded = true, record.State
		return record, nil
	}
	start := machine.Record{UID: pass.UID, State: table.Table.Start}
	if l.problem != "" || l.at.IsZero() || pass.Target.Object.GetCreationTimestamp().After(l.at) {
		return start, nil
	}
	i := slices.IndexFunc(l.detail.Targets, func(told phasesgate.TargetDetail) bool { return told.Name == string(t.key) })
	switch {
	case i >= 0:
		told := l.detail.Targets[i]
		if _, known := table.Table.State(told.State); !known {
			return start, nil
		}
		t.recorded = told.State
		return machine.Record{UID: pass.UID, State: told.State, Reason: told.Why}, nil
	case l.detail.More == 0 && slices.ContainsFunc(l.detail.Sums, func(s phasesgate.KindSum) bool {
		return s.Done > 0 && s.API == facts.Object.API && s.Kind == facts.Object.Kind
	}):
		start.State = table.Current
	}
	return start, nil
}

// unread says why the stub is not known, empty if it is or if nobody asks.
func (t *target) unread() string {
	f := t.shot.Facts
	if f.Stub.Known || machine.All(guards.Enrolled, guards.Touchable).Answer(f).Truth != machine.Yes {
		return ""
	}
	return f.Stub.Unread
}

// questions are those that are asked of the target.
func (t *target) questions() []Question {
	but := ofTheProcess
	if t.shot.Record.State != table.Failed {
		but = slices.Concat(but, ofFailure)
	}
	return asked(table.Table, t.shot.Facts, but...)
}
