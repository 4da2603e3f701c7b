package bootgate_test

import (
	"fmt"
	"strings"
	"testing"

	guards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/bootgate"
	phases "github.com/capstan-capi/capstan/phases/bootgate"
)

func TestConditions(t *testing.T) {
	one := func(name, reason string) []phases.Told { return []phases.Told{{Name: name, Reason: reason}} }
	kinds := func(working int) []phases.KindSum {
		return []phases.KindSum{{API: "MachineAPI", Kind: "MachineSet", Total: 3, Done: 2, Working: working}}
	}
	for name, row := range map[string]struct {
		record machine.Record
		facts  guards.Facts
		pass   phases.Pass
		want   string
		says   string
	}{
		"open, and all have moved": {
			record: machine.Record{State: table.Open}, pass: phases.Pass{Ours: true, Targets: phases.Sums{Kinds: kinds(0)}},
			want: "BootImageUpdateProgressing=false/AsExpected BootImageUpdateDegraded=false/AsExpected BootImageUpdateSkipped=false/AsExpected",
			says: "Open: 2 of 3 targets have the golden boot image (MachineAPI MachineSet 2/3)",
		},
		"the Machine API is somebody else's": {
			record: machine.Record{State: table.Off},
			want:   "ClusterAPIBootImageUpdateProgressing=false/AsExpected ClusterAPIBootImageUpdateDegraded=false/AsExpected ClusterAPIBootImageUpdateSkipped=false/AsExpected",
		},
		"a target moves": {
			record: machine.Record{State: table.Open}, pass: phases.Pass{Ours: true, Targets: phases.Sums{Kinds: kinds(1)}},
			want: "BootImageUpdateProgressing=true/Progressing BootImageUpdateDegraded=false/AsExpected BootImageUpdateSkipped=false/AsExpected",
		},
		"a target is stuck": {
			record: machine.Record{State: table.Open}, pass: phases.Pass{Ours: true, Targets: phases.Sums{Stuck: one("MachineSet a", "refused by a quota")}},
			want: "BootImageUpdateProgressing=false/AsExpected BootImageUpdateDegraded=true/EphemeralError BootImageUpdateSkipped=false/AsExpected",
			says: "MachineSet a: refused by a quota; capstan status boot-images",
		},
		"a target is skipped, which never degrades": {
			record: machine.Record{State: table.Open}, pass: phases.Pass{Ours: true, Targets: phases.Sums{Skipped: one("MachineSet a", "Foreign")}},
			want: "BootImageUpdateProgressing=false/AsExpected BootImageUpdateDegraded=false/AsExpected BootImageUpdateSkipped=true/Skipped",
			says: "MachineSet a: Foreign",
		},
		"the voucher is overdue": {
			record: machine.Record{State: table.VoucherOverdue, Reason: "another release"}, pass: phases.Pass{Ours: true},
			want: "BootImageUpdateProgressing=false/WaitingOnExternal BootImageUpdateDegraded=true/WaitingOnExternal BootImageUpdateSkipped=false/AsExpected",
			says: "VoucherOverdue: another release",
		},
		"the status is claimed": {
			record: machine.Record{State: table.Open, Beside: map[machine.Event]machine.Standing{"ConfigHasProblems": {Lasted: true}}},
			facts:  guards.Facts{Config: guards.Configuration{Problems: []string{"claimed by machine-config-operator"}}},
			want:   "ClusterAPIBootImageUpdateProgressing=false/NonRetryableError ClusterAPIBootImageUpdateDegraded=true/NonRetryableError ClusterAPIBootImageUpdateSkipped=false/AsExpected",
			says:   "Open: claimed by machine-config-operator; 0 of 0 targets",
		},
	} {
		t.Run(name, func(t *testing.T) {
			pass := row.pass
			shot := phases.Snapshot{Record: row.record, Facts: row.facts, Seen: &pass}
			var got, says []string
			for _, c := range table.ConfigConditions(shot) {
				got, says = append(got, fmt.Sprintf("%s=%v/%s", c.Type, c.Is, c.Reason)), append(says, c.Message)
				if len(c.Message) > machine.MaxMessage {
					t.Errorf("%s has %d bytes", c.Type, len(c.Message))
				}
			}
			if text := strings.Join(got, " "); text != row.want || !strings.Contains(strings.Join(says, "\n"), row.says) {
				t.Errorf("told is\n%s\n%s\nwant\n%s\n%s", text, strings.Join(says, "\n"), row.want, row.says)
			}
		})
	}
}

func TestConditions_of_the_ClusterOperator_are_not_sure_before_the_age_is_judged(t *testing.T) {
	shot := phases.Snapshot{Record: machine.Record{State: table.Off}, Seen: &phases.Pass{}}
	for _, row := range []struct {
		judged         *phases.Upgradeable
		unsure, is     bool
		reason, wanted string
	}{
		{nil, true, true, machine.AsExpected, ""},
		{&phases.Upgradeable{Is: true, Message: "not watched"}, false, true, machine.AsExpected, "not watched"},
		{&phases.Upgradeable{Reason: phases.SkewError, Message: "old"}, false, false, phases.SkewError, "old"},
	} {
		shot.Seen.Upgradeable = row.judged
		told := table.Conditions(shot)
		c := told[len(told)-1]
		if c.Type != "BootImagesControllerUpgradeable" || c.Unsure != row.unsure || c.Is != row.is || c.Reason != row.reason || c.Message != row.wanted {
			t.Errorf("told is %+v, want %+v", c, row)
		}
	}
}
