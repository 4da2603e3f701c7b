package dashboard

import (
	"context"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/controllers/clusterapi"
	"github.com/capstan-capi/capstan/controllers/view"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// machineOf tells of an instance by what was seen of it, as `capstan status` and `capstan explain` do.
func machineOf(of view.View, seen view.Seen, key machine.Key) Machine {
	m := Machine{
		Machine: of.Table.Name, Key: key, Head: view.HeadOf(of.Table, seen.Record, seen.Problem, seen.Waits), Attention: attention(seen.Status.Code()),
		History: []machine.Transition{}, Moves: []view.Way{},
	}
	e, err := inspect.View{Seen: seen, Table: of.Table}.Explain()
	if err != nil {
		return m // without a record there is nothing to explain
	}
	m.Meaning, m.Work, m.History, m.Moves, m.Untold = e.Meaning, e.Work, e.Transitions, e.Moves, e.Untold
	return m
}

func attention(code int) string {
	switch code {
	case view.CodeDone:
		return AttentionNone
	case view.CodeLook:
		return AttentionLook
	}
	return AttentionUnderWay
}

// tell makes the view of what was read of ClusterAPI and ClusterOperator; families and what could not be read are told beside.
func tell(ctx context.Context, views []view.View, get view.Getter, as shell) (View, error) {
	v := View{
		Machines: []Machine{}, Revisions: []clusterapi.Revision{}, Images: []phases.ImageDetail{}, Look: []Look{}, Acts: []Act{}, Conditions: []view.Condition{},
		Families: []Family{}, Commands: []Command{}, Unread: []Unread{},
	}
	for _, of := range views {
		if of.Instances != nil {
			continue
		}
		seen, err := of.Look(ctx, get, "")
		if err != nil {
			return View{}, err
		}
		m := machineOf(of, seen, "")
		v.Machines = append(v.Machines, m)
		v.Look = append(v.Look, alarming(m)...)
		status, is := seen.Status.(clusterapi.Status)
		if !is {
			continue
		}
		revision, err := awaitsConsent(ctx, of.Table, get)
		if err != nil {
			return View{}, err
		}
		v.Look = append(v.Look, awaiting(revision, as)...)
		v.tellStatus(status, as)
	}
	if more := len(v.Look) - maxLook; more > 0 {
		v.Look, v.MoreLook = v.Look[:maxLook], more
	}
	return v, nil
}

// awaitsConsent is the revision that awaits consent to an uninstallation, which the operator tells beside its status; empty for none.
func awaitsConsent(ctx context.Context, table view.Table, get view.Getter) (revision string, err error) {
	operator, err := view.Operator(ctx, get, phases.ClusterOperatorName)
	if err != nil {
		return "", err
	}
	var detail phases.Detail
	if _, problem := view.Published(table, phases.ClusterOperatorName, operator, &detail); problem != "" {
		return "", nil
	}
	return detail.UninstallConsent, nil
}

// tellStatus adds what is told of the machine that installs.
func (v *View) tellStatus(s clusterapi.Status, as shell) {
	v.Release, v.Revisions, v.Images, v.Conditions = s.Release, s.Revisions, s.Images, s.Conditions
	var alone []string
	for _, one := range s.LeftAlone {
		alone = append(alone, one.Object)
	}
	for _, act := range s.Acts {
		told := Act{
			Act: act.Name, About: act.About, Revision: act.Revision, By: act.By, At: act.At, Until: act.Until, Reason: act.Reason,
			Standing: act.Void == "" && act.Waits == "" && !act.Ended, Ended: act.Ended, Why: act.Void, Unproved: act.Unproved, Undo: as.undo(act, alone),
		}
		if told.Why == "" {
			told.Why = act.Waits
		}
		v.Acts = append(v.Acts, told)
	}
	v.Look = append(v.Look, looksAt(s, as)...)
	v.Commands = as.commands(s)
}
