// Package bootgate is the machine that says whether boot images may be moved: its states, its moves
// and what it tells people. Everything that may happen is in this one table; the looking and doing are
// in phases/bootgate, the questions in guards/bootgate.
package bootgate

import (
	"time"

	guards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/bootgate"
)

// The states, by the names that users, diagrams, logs and metrics show.
const (
	Off               machine.State = "Off"
	WaitingForConfig  machine.State = "WaitingForConfig"
	ConfigOverdue     machine.State = "ConfigOverdue"
	WaitingForRelease machine.State = "WaitingForRelease"
	GoldenBroken      machine.State = "GoldenBroken"
	WaitingForVoucher machine.State = "WaitingForVoucher"
	VoucherOverdue    machine.State = "VoucherOverdue"
	Open              machine.State = "Open"
)

// Controller is the part of the machine that has conditions of its own.
const Controller = phases.Controller

const (
	// patience is how long an error may last before people are told that something is wrong.
	patience = 5 * time.Minute
	// configPatience is how long the spec of the MachineConfiguration may be ahead of its status.
	configPatience = 2 * time.Minute
	// voucherPatience is how long the pools of an upgraded cluster may take until the boot images are said to be those of
	// the release.
	voucherPatience = time.Hour
	// editing is how long a claim or an annotation of the MachineConfiguration may be wrong, as while somebody edits it.
	editing = time.Minute
)

// progressStalled is the event of a deadline.
const progressStalled machine.Event = "ProgressStalled"

// How the part reads on conditions.
var (
	working  = machine.Reading{Progressing: true, Reason: machine.Progressing}
	waiting  = machine.Reading{Progressing: true, Reason: machine.WaitingOnExternal}
	resting  = machine.Reading{Reason: machine.WaitingOnExternal}
	overdue  = machine.Reading{Degraded: true, Reason: machine.WaitingOnExternal}
	retrying = machine.Reading{Progressing: true, Reason: machine.EphemeralError}
	degraded = machine.Reading{Progressing: true, Degraded: true, Reason: machine.EphemeralError}
	terminal = machine.Reading{Degraded: true, Reason: machine.NonRetryableError}
	keeping  = machine.Trouble{Ephemeral: retrying, Terminal: retrying, Patience: patience, Overdue: degraded, Alert: keepingFails}
	// failing is for states that read as Degraded by themselves.
	failing = machine.Trouble{Ephemeral: degraded, Terminal: terminal}
)

// Table is the machine.
var Table = machine.Table[guards.Facts, *phases.Pass]{
	Name:  "bootgate",
	Doc:   "Says whether boot images may be moved to those of the release: once the cluster's administrator has said which, the release is complete, and its boot images are known. The stored state opens nothing: targets wait for the first pass of this process in which every question says Yes, and move then also while the move to Open cannot be stored. After a start, what was told before stays until all targets are judged, 15 seconds at most, unless the record changes.",
	Start: Off,
	Parts: []string{Controller},

	States: []machine.StateRow[*phases.Pass]{
		{
			Name: Off, Rest: true, Work: phases.KeepConfig, Part: Controller, Trouble: keeping,
			Doc: "There is no MachineConfiguration, or the platform has no boot images that are managed; none is moved.",
		},
		{
			Name: WaitingForConfig, Work: phases.KeepConfig, Part: Controller, Reads: working, Trouble: keeping,
			Doc: "The status of the MachineConfiguration is not yet what its spec resolves to; no boot image is moved.",
		},
		{
			Name: ConfigOverdue, Rest: true, Alarm: true, Work: phases.KeepConfig, Part: Controller, Reads: overdue, Trouble: failing, Alert: configIsOverdue,
			Doc: "The status of the MachineConfiguration has not followed its spec for two minutes. No boot image is moved until it does.",
		},
		{
			Name: WaitingForRelease, Rest: true, Work: phases.KeepConfig, Part: Controller, Reads: resting, Trouble: keeping,
			Doc: "An upgrade of the cluster is under way, so it is not known yet which boot images are wanted; none is moved.",
		},
		{
			Name: GoldenBroken, Rest: true, Alarm: true, Work: phases.KeepConfig, Part: Controller, Reads: overdue, Trouble: failing, Alert: goldenIsBroken,
			Doc: "The ConfigMap with the boot images of the release is missing or cannot be read; no boot image is moved until it can.",
		},
		{
			Name: WaitingForVoucher, Work: phases.KeepConfig, Part: Controller, Reads: waiting, Trouble: keeping,
			Doc: "The ConfigMap with the boot images says that they are of another release than the cluster has, as after an upgrade until the machine-config pools have followed; no boot image is moved.",
		},
		{
			Name: VoucherOverdue, Rest: true, Alarm: true, Work: phases.KeepConfig, Part: Controller, Reads: overdue, Trouble: failing, Alert: voucherIsOverdue,
			Doc: "For an hour the boot images have not been those of the release. No boot image is moved until they are.",
		},
		{
			Name: Open, Rest: true, Work: phases.RetireClones, Part: Controller, Trouble: keeping,
			Doc: "Boot images may be moved to those of the release, as long as these are among the known ones (GoldenIsKnown): where they change while the gate is open, that is seen to first. Clones of infrastructure machine templates that nothing needs any more are deleted.",
		},
	},

	Moves: []machine.Move[guards.Facts, *phases.Pass]{
		{
			On: "Inapplicable", From: in(WaitingForConfig, ConfigOverdue, WaitingForRelease, GoldenBroken, WaitingForVoucher, VoucherOverdue, Open), To: Off,
			If:  machine.Not(guards.Applies),
			Doc: "Somebody deleted the MachineConfiguration, or the platform has no boot images that are managed. Boot images stay as they are.",
		},
		{
			On: "Unresolved", From: in(Off, WaitingForRelease, GoldenBroken, WaitingForVoucher, VoucherOverdue, Open), To: WaitingForConfig,
			If:  machine.All(guards.Applies, machine.Not(guards.ConfigIsResolved)),
			Doc: "The MachineConfiguration's spec is new, or somebody has edited its status.",
		},
		{
			On: progressStalled, From: in(WaitingForConfig), To: ConfigOverdue, Stalled: configPatience,
			Doc: "The status of the MachineConfiguration has not followed its spec for two minutes.",
		},
		{
			On: "ReleaseIncomplete", From: in(Off, WaitingForConfig, ConfigOverdue, GoldenBroken, WaitingForVoucher, VoucherOverdue, Open), To: WaitingForRelease,
			If:  machine.All(guards.Applies, guards.ConfigIsResolved, machine.Not(guards.ReleaseIsComplete)),
			Doc: "An upgrade of the cluster has begun.",
		},
		{
			On: "GoldenUnreadable", From: in(Off, WaitingForConfig, ConfigOverdue, WaitingForRelease, WaitingForVoucher, VoucherOverdue, Open), To: GoldenBroken,
			If:  machine.All(guards.Applies, guards.ConfigIsResolved, guards.ReleaseIsComplete, machine.Not(guards.GoldenIsReadable)),
			Doc: "Somebody deleted the ConfigMap with the boot images of the release, or what is in it cannot be read.",
		},
		{
			On: "Unvouched", From: in(Off, WaitingForConfig, ConfigOverdue, WaitingForRelease, GoldenBroken, Open), To: WaitingForVoucher,
			If:  machine.All(guards.Applies, guards.ConfigIsResolved, guards.ReleaseIsComplete, guards.GoldenIsReadable, machine.Not(guards.GoldenIsVouched)),
			Doc: "The ConfigMap with the boot images says that they are of another release than the cluster has.",
		},
		{
			On: progressStalled, From: in(WaitingForVoucher), To: VoucherOverdue, Stalled: voucherPatience,
			Doc: "For an hour the boot images have not been those of the release.",
		},
		{
			On: "Opened", From: in(Off, WaitingForConfig, ConfigOverdue, WaitingForRelease, GoldenBroken, WaitingForVoucher, VoucherOverdue), To: Open,
			If:  machine.All(guards.Applies, guards.ConfigIsResolved, guards.ReleaseIsComplete, guards.GoldenIsReadable, guards.GoldenIsVouched),
			Doc: "The release is complete, its boot images are known, and it is known which machines' boot images may be moved.",
		},
	},

	Asides: []machine.Aside[guards.Facts]{
		{
			Part: Controller, If: guards.ConfigHasProblems, For: editing, Reads: terminal, Alert: configIsWrong,
			Doc: "An administrator has to mend something of the MachineConfiguration, and what it is about is left alone until then: somebody else claims the status, or an annotation cannot be read.",
		},
	},

	Notices: notices,
}

func in(states ...machine.State) []machine.State { return states }
