package bootimage_test

import (
	"strings"
	"testing"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/bootimage"
	phases "github.com/capstan-capi/capstan/phases/bootimage"
)

func TestLine_and_StandingOf(t *testing.T) {
	facts := guards.Facts{
		Seen: true, Object: guards.Object{API: guards.MachineAPI, Kind: "MachineSet", Name: "a"},
		Others: guards.Others{Known: true}, Gate: guards.Gate{Known: true, Open: true},
		Target: guards.Target{Read: true, Image: "ami-old"}, Verdict: guards.Verdict{Known: true, Wanted: "ami-new"}, Stub: guards.Stub{Known: true},
	}
	failure := &machine.Failure{Message: "forbidden"}
	done, working, counts := phases.Standing{Counts: true, Done: true}, phases.Standing{Counts: true, Working: true}, phases.Standing{Counts: true}
	skipped, stuck := phases.Standing{Counts: true, Skipped: true}, phases.Standing{Counts: true, Stuck: true}
	for name, row := range map[string]struct {
		record machine.Record
		change func(*guards.Facts)
		want   phases.Standing
		says   string
	}{
		"not enrolled":                 {machine.Record{State: table.Unenrolled}, func(f *guards.Facts) { f.Enrolment.Known = true }, phases.Standing{}, "Unenrolled: MachineSet a is not enrolled"},
		"paused":                       {machine.Record{State: table.Excluded}, func(f *guards.Facts) { f.Others.Paused = "Cluster c" }, skipped, "Excluded: Cluster c is paused"},
		"Windows":                      {machine.Record{State: table.Excluded}, func(f *guards.Facts) { f.Others.Windows = true }, phases.Standing{}, "Windows"},
		"the gate is shut":             {machine.Record{State: table.Deciding, Reason: "an upgrade"}, func(f *guards.Facts) { f.Gate.Open = false }, counts, "Deciding: an upgrade"},
		"the gate is open":             {machine.Record{State: table.Deciding}, func(*guards.Facts) {}, working, "Deciding; since"},
		"the image is written":         {machine.Record{State: table.Settling, Reason: "not seen"}, func(*guards.Facts) {}, working, "Settling: not seen"},
		"the work meets an error":      {machine.Record{State: table.Cloning, Reason: "forbidden", Failure: failure}, func(*guards.Facts) {}, working, "Cloning: forbidden; tried again by itself"},
		"it has it":                    {machine.Record{State: table.Current}, func(f *guards.Facts) { f.Verdict.Same = true }, done, "Current: MachineSet a has the wanted image ami-new"},
		"it has it, and a stub fails":  {machine.Record{State: table.Current, Reason: "forbidden", Failure: failure}, func(*guards.Facts) {}, done, "Current: forbidden; tried again"},
		"foreign":                      {machine.Record{State: table.Skipped}, func(f *guards.Facts) { f.Verdict.Skip = guards.Foreign }, skipped, "Skipped: Foreign: image ami-old"},
		"nobody expects it":            {machine.Record{State: table.Skipped}, func(f *guards.Facts) { f.Verdict.Skip, f.Verdict.Uncounted = guards.SecurityType, true }, phases.Standing{}, "SecurityType"},
		"skipped, and not judged anew": {machine.Record{State: table.Skipped}, func(f *guards.Facts) { f.Gate.Known = false }, skipped, "Skipped: nobody can tell yet"},
		"changed back":                 {machine.Record{State: table.HotLoop}, func(f *guards.Facts) { f.Attempts = guards.Attempts{Known: true, Made: 3} }, stuck, "3 times, and it did not stay"},
		"failed":                       {machine.Record{State: table.Failed, Reason: "forbidden", Failure: failure}, func(*guards.Facts) {}, stuck, "Failed: forbidden; tried again every 2 minutes, writes as dry runs"},
		"failed by a deadline just now": {
			machine.Record{State: table.Failed, LastEvent: guards.ProgressStalled, Cause: "no progress for 5m: not seen"},
			func(*guards.Facts) {}, stuck,
			"Failed: no progress for 5m: not seen; tried again every 2 minutes",
		},
		"failed by a deadline": {
			machine.Record{State: table.Failed, LastEvent: guards.ProgressStalled, Cause: "no progress for 5m: not seen", Reason: "not seen: still"},
			func(*guards.Facts) {}, stuck,
			"Failed: no progress for 5m: not seen: still; tried again every 2 minutes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			shot := phases.Snapshot{Record: row.record, Facts: facts, Seen: &phases.Pass{}}
			row.change(&shot.Facts)
			line, got := table.Line(shot), table.StandingOf(shot)
			if !strings.Contains(line, row.says) || len(line) > machine.MaxMessage {
				t.Errorf("it says %q, want %q", line, row.says)
			}
			if told := got.Why != ""; told != (row.want.Skipped || row.want.Stuck || row.want.Working && row.record.Failure != nil) && name != "skipped, and not judged anew" {
				t.Errorf("it gives the reason %q", got.Why)
			}
			if got.Why = ""; got != row.want {
				t.Errorf("it stands as %+v, want %+v", got, row.want)
			}
		})
	}
}
