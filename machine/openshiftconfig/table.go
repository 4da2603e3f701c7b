// Package openshiftconfig is the machine of an OpenShiftConfig, which a machine of an OpenShift cluster is started with: its
// states, its moves and what it tells people. Everything that may happen is in this one table; the looking and doing are in
// phases/openshiftconfig, the questions in guards/openshiftconfig.
package openshiftconfig

import (
	"slices"
	"time"

	guards "github.com/capstan-capi/capstan/guards/openshiftconfig"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftconfig"
)

const (
	// patience is how long errors may last.
	patience = 5 * time.Minute
	// limit is how long the Secret may take.
	limit = 10 * time.Minute
)

type move = machine.Move[guards.Facts, phases.Works]

// hasFailed calls somebody to a config that was not published.
var hasFailed = machine.Alert{
	Name: "CapstanOpenShiftConfigFailed", Severity: machine.Warning, After: 10 * time.Minute,
	Summary: "A machine of an OpenShift cluster cannot be started, since its Ignition config was not published",
}

// Table is the machine.
var Table = machine.Table[guards.Facts, phases.Works]{
	Name:     "openshiftconfig",
	Doc:      "Gives a machine of an OpenShift cluster the Secret that it is started with: the Ignition config of its role, made by the OpenShiftControlPlane, with what the spec wants to be merged into it. Once the machine was started, the Secret is never written again.",
	Start:    guards.Pending,
	Inputs:   guards.Fingerprint,
	Recall:   guards.Recall,
	Foresees: true,

	States: []machine.StateRow[phases.Works]{
		rest(guards.Pending, "No Machine owns the OpenShiftConfig yet, or what it is made of could not be read. One that is less than five seconds old is left alone: its Machine is made after it."),
		rest(guards.AwaitingPayload, "The Ignition config of the role is waited for, and by a worker also the control plane that it joins."),
		{
			Name: guards.Publishing, Work: phases.PublishData,
			Doc: "The Secret is being written.",
		},
		rest(guards.Ready, "The machine can be started with the Secret, which is put right if somebody alters it."),
		rest(guards.Frozen, "The machine was started, and nothing is written any more."),
		{
			Name: guards.Failed, Rest: true, Alarm: true, Alert: hasFailed, Work: machine.Resume[phases.Works](),
			Doc: "The Secret could not be made. It is tried again by itself, and at once where the payload, what is merged into it, or the spec is another.",
		},
		{
			Name: guards.Paused, Rest: true, Quiet: true,
			Doc: "Somebody has paused the Cluster or the OpenShiftConfig; nothing is written but that.",
		},
	},

	Moves: []move{
		{
			On: "PauseRequested", From: but(guards.Paused), To: guards.Paused, Urgent: true, If: guards.IsPaused,
			Doc: "Somebody wants nothing to be done.",
		},
		{
			On: "PauseEnded", From: in(guards.Paused), To: guards.Pending, If: machine.Not(guards.IsPaused),
			Doc: "Nobody wants nothing to be done any more.",
		},
		{
			On: "BootFound", From: but(guards.Paused, guards.Frozen), To: guards.Frozen, If: guards.BootHasBegun,
			Doc: "The machine has its infrastructure, or the ID that its provider gives it, or its Node is known.",
		},
		{
			On: "PayloadFound", From: in(guards.Pending, guards.AwaitingPayload), To: guards.Publishing,
			If:  machine.All(guards.OwnerIsSet, guards.PayloadIsThere, guards.ControlPlaneIsUp, machine.Not(guards.BootHasBegun)),
			Doc: "A Machine owns the OpenShiftConfig, the Ignition config of the role is there, and a worker finds a control plane to join.",
		},
		{
			On: "OwnerSet", From: in(guards.Pending), To: guards.AwaitingPayload,
			If: machine.All(guards.OwnerIsSet, machine.Not(guards.BootHasBegun),
				machine.Any(machine.Not(guards.PayloadIsThere), machine.Not(guards.ControlPlaneIsUp))),
			Doc: "A Machine owns the OpenShiftConfig, and something that it is made of is not there yet.",
		},
		{
			On: "OwnerLost", From: in(guards.AwaitingPayload, guards.Publishing, guards.Failed), To: guards.Pending,
			If:  machine.All(machine.Not(guards.OwnerIsSet), machine.Not(guards.BootHasBegun)),
			Doc: "No Machine owns the OpenShiftConfig any more.",
		},
		{
			On: "PayloadLost", From: in(guards.Publishing, guards.Ready), To: guards.AwaitingPayload,
			If:  machine.All(guards.OwnerIsSet, machine.Not(guards.PayloadIsThere), machine.Not(guards.BootHasBegun)),
			Doc: "The Ignition config of the role is gone, as when an attempt is cleared away: what was published is of that.",
		},
		{
			On: "Published", From: in(guards.Publishing), To: guards.Ready,
			If:  machine.All(guards.OwnerIsSet, guards.PayloadIsThere, guards.SecretIsRight, machine.Not(guards.BootHasBegun)),
			Doc: "The Secret is as it should be.",
		},
		{
			On: "SecretLost", From: in(guards.Ready), To: guards.Publishing,
			If:  machine.All(guards.PayloadIsThere, machine.Not(guards.SecretIsRight), machine.Not(guards.BootHasBegun)),
			Doc: "Somebody has deleted or altered the Secret, or it is to be another one: it gets the bytes that it should have.",
		},
		{
			On: "Recovered", From: in(guards.Failed), To: guards.AwaitingPayload,
			If:  machine.All(guards.OwnerIsSet, machine.Any(guards.InputChanged, guards.WorkSucceeds), machine.Not(guards.BootHasBegun)),
			Doc: "The payload, what is merged into it, or the spec is another, or the work meets no error any more.",
		},
		{
			On: "FailureEstablished", From: in(guards.Publishing), To: guards.Failed, Failing: patience,
			Doc: "The work has met errors for five minutes, or one that trying again at once cannot heal, such as Ignition that is not valid.",
		},
		{
			On: guards.ProgressStalled, From: in(guards.Publishing), To: guards.Failed, Stalled: limit,
			Doc: "The Secret was not as it should be within ten minutes.",
		},
	},
}

func rest(name machine.State, doc string) machine.StateRow[phases.Works] {
	return machine.StateRow[phases.Works]{Name: name, Rest: true, Doc: doc}
}

func in(states ...machine.State) []machine.State { return states }

// but are all states but some.
func but(others ...machine.State) []machine.State {
	var states []machine.State
	for _, state := range in(guards.Pending, guards.AwaitingPayload, guards.Publishing, guards.Ready, guards.Frozen, guards.Failed, guards.Paused) {
		if !slices.Contains(others, state) {
			states = append(states, state)
		}
	}
	return states
}
