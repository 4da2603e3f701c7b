package bootimages

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	"gotest.tools/v3/golden"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/controllers/view"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/bootimage"
)

func printed(t *testing.T, of interface {
	Write(io.Writer, time.Time) error
},
) string {
	t.Helper()
	var text bytes.Buffer
	if err := of.Write(&text, now); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	if all := text.String() + string(encoded); strings.Contains(all, "hush") || strings.Contains(string(encoded), ":null") {
		t.Errorf("it prints what is in a Secret, or a list that is null:\n%s", all)
	}
	return text.String()
}

func says(t *testing.T, text string, wants ...string) {
	t.Helper()
	flat := strings.Join(strings.Fields(text), " ")
	for _, want := range wants {
		if no, not := strings.CutPrefix(want, "!"); not == strings.Contains(flat, no) {
			t.Errorf("%q: it says\n%s", want, text)
		}
	}
}

const mapi = "machinesets.machine.openshift.io/"

func TestStatus(t *testing.T) {
	for name, row := range map[string]struct {
		cluster *bench
		change  func(*bench)
		code    int
		says    []string
	}{
		"all have it": {
			cluster: ready(open(""), awsSet("a", "ami-new")), code: view.CodeDone,
			says: []string{"Gate: Open since 2026-01-01 11:00:00Z (1h03m)", "at work: pod-1 holds the Lease ops/capstan-leader", "written 3m00s ago", "MachineAPI MachineSet 1 1 0 0", "Upgradeable True", "!Not as wanted", "!Waits"},
		},
		"one is foreign, one is to be moved": {
			cluster: ready(open(""), awsSet("a", "ami-mine"), awsSet("b", "ami-old")), code: view.CodeOnItsWay,
			says: []string{"MachineAPI MachineSet 0 2 1 1", mapi + "a Skipped Foreign: image ami-mine", "boot-image-adopt='ami-mine'", mapi + "b Deciding MachineSet b has image ami-old, and ami-new is wanted next: none: the operator is at it"},
		},
		"nobody works": {
			cluster: ready(open(""), awsSet("b", "ami-old")), change: func(b *bench) { find[*coordinationv1.Lease](b).Spec.HolderIdentity = nil }, code: view.CodeOnItsWay,
			says: []string{"not at work: nobody has renewed the Lease", "next: have the operator run again: kubectl get pods -n ops"},
		},
		"the gate waits, as is recorded": {
			cluster: ready(told(`{"bootgate":{"state":"WaitingForVoucher","since":"2026-01-01T12:00:00Z","deadline":{"at":"2026-01-01T13:00:00Z","on":"ProgressStalled","to":"VoucherOverdue"},"progress":{"since":"2026-01-01T12:00:00Z"},"entry":{}},
				"bootgateDetail":{"waits":"","settings":{"apis":["MachineAPI"],"gcpProject":"rhcos-cloud","stream":"rhel-9","limits":"4.13.0,9.2","rollsOutBefore":"4.21"},"sums":[{"API":"MachineAPI","Kind":"MachineSet","Total":1,"Done":1}]}}`), awsSet("a", "ami-old")),
			change: func(b *bench) { find[*corev1.ConfigMap](b).Data["releaseVersion"] = "4.22.0" }, code: view.CodeOnItsWay,
			says: []string{"Gate: WaitingForVoucher since", "Waits for: GoldenIsVouched: ConfigMap", "Deadline: VoucherOverdue in 56m48s", "MachineAPI MachineSet 1 1 0 0", "--boot-images=MachineAPI", "!Not as wanted"},
		},
		"the gate waits, and the record is of before": {
			cluster: ready(open(""), awsSet("a", "ami-old")), change: func(b *bench) { find[*corev1.ConfigMap](b).Data["releaseVersion"] = "4.22.0" }, code: view.CodeOnItsWay,
			says: []string{"Gate: WaitingForVoucher", "Recorded: Open; the objects as they are now lead from there to WaitingForVoucher", mapi + "a Deciding", "next: capstan explain boot-images"},
		},
		"the golden images cannot be read": {
			cluster: ready(open("")), change: func(b *bench) { find[*corev1.ConfigMap](b).Data["stream"] = "{" }, code: view.CodeLook,
			says: []string{"Gate: GoldenBroken", "Waits for: GoldenIsReadable"},
		},
		"no operator has ever told anything": {
			cluster: ready(awsSet("a", "ami-old")), change: func(b *bench) { b.objects = b.objects[:len(b.objects)-2] }, code: view.CodeOnItsWay,
			says: []string{"Problem: ClusterOperator cluster-api does not exist", "not known: there is no Lease ops/capstan-leader", "--boot-images=ClusterAPI is assumed", "none that is enrolled counts"},
		},
		"Secrets may not be read": {
			cluster: ready(open(`,"sums":[{"API":"MachineAPI","Kind":"MachineSet","Total":1,"Done":1}]`), awsSet("a", "ami-new"), awsSet("b", "ami-mine")), change: func(b *bench) { b.forbids = []string{"Secret"} }, code: view.CodeOnItsWay,
			says: []string{"Not read, so that some answers are Unknown looking for Secret openshift-machine-api/worker-user-data", "forbidden", "MachineAPI MachineSet 1 2 1 0", mapi + "b Skipped"},
		},
		"the Lease may not be read": {
			cluster: ready(open(""), awsSet("a", "ami-new")), change: func(b *bench) { b.forbids = []string{"Lease"} }, code: view.CodeDone,
			says: []string{"not known: not allowed to get Lease ops/capstan-leader"},
		},
		"a target is told to be in a hot loop, and there is no record": {
			cluster: ready(open(`,"targets":[{"name":"`+mapi+`a","state":"HotLoop","why":"x"}]`), awsSet("a", "ami-old")), code: view.CodeOnItsWay,
			says: []string{mapi + "a Deciding (recorded: HotLoop)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if row.change != nil {
				row.change(row.cluster)
			}
			status, err := row.cluster.must(t).Status("")
			if err != nil {
				t.Fatal(err)
			}
			says(t, printed(t, status), row.says...)
			if line := status.Line(); !strings.HasPrefix(line, "gate "+string(status.Gate.State)) || strings.Contains(line, "\n") {
				t.Errorf("in a line it is %q", line)
			}
			if got := status.Code(); got != row.code {
				t.Errorf("the exit code is %d, want %d", got, row.code)
			}
		})
	}
}

func TestStatus_of_one_target_has_its_exit_code(t *testing.T) {
	look := ready(open(""), awsSet("a", "ami-new"), awsSet("b", "ami-mine")).must(t)
	for key, want := range map[machine.Key]int{mapi + "a": view.CodeDone, mapi + "b": view.CodeOnItsWay} {
		status, err := look.Status(key)
		if err != nil || status.Code() != want {
			t.Errorf("%s: %d, want %d (%v)", key, status.Code(), want, err)
		}
		says(t, printed(t, status), string(key), "!Gate:")
		if line := status.Line(); !strings.HasPrefix(line, string(key)+" ") {
			t.Errorf("in a line it is %q", line)
		}
	}
}

func TestStatus_in_a_line_has_the_sums_and_what_needs_a_look(t *testing.T) {
	s := Status{
		Gate: Gate{State: "Open"}, Sums: []Sum{{API: "MachineAPI", Kind: "MachineSet", Total: 4, Done: 1, Skipped: 1, Working: 1}},
		Targets: []Row{{Target: "a", State: "Skipped"}, {Target: "b", State: "HotLoop"}},
	}
	if got, want := s.Line(), "gate Open; MachineAPI MachineSet: 1 of 4 done, 1 skipped, 1 moving; b HotLoop"; got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
}

func TestExplain_a_target(t *testing.T) {
	paused := awsSet("a", "ami-old")
	paused.Annotations = map[string]string{"cluster.x-k8s.io/paused": ""}
	old := ready(open(""), awsSet("a", "ami-old"))
	find[*corev1.Secret](old).Data["userData"] = []byte(`{"ignition":{"version":"2.2.0"}}`)
	off := ready(open(""), awsSet("a", "ami-old"))
	off.apis = []string{"ClusterAPI", "MachineAPI"}
	for name, row := range map[string]struct {
		cluster *bench
		says    []string
	}{
		"it has it": {ready(open(""), awsSet("a", "ami-new")), []string{
			"State: Current", "Enrolled: Yes: MachineSet a is enrolled by machinesets All in status.managedBootImagesStatus", "Excluded: by nothing", "Image: ami-new", "Wanted: ami-new",
			"Attempts: none used, 3 left", "Stub: spec 3.2.0 in Secret openshift-machine-api/worker-user-data", "nothing is stored of it", "Yes IsAsWanted", "Next step none", "!PlanStands", "!CauseIsGone",
		}},
		"it is foreign":                {ready(open(""), awsSet("a", "ami-mine")), []string{"State: Skipped", "Why: Foreign", "Written: No: as is said above", "No MayBeWritten", "Next step kubectl annotate " + "machinesets.machine.openshift.io -n openshift-machine-api a --overwrite"}},
		"it is paused":                 {ready(open(""), paused), []string{"State: Excluded", "Excluded: Paused: MachineSet a is paused", "its version is not asked"}},
		"its stub is old":              {old, []string{"State: Deciding", "Stub: spec 2.2.0 in Secret openshift-machine-api/worker-user-data, older than 3"}},
		"flags go before what is told": {off, []string{"--boot-images=ClusterAPI,MachineAPI is assumed"}},
	} {
		t.Run(name, func(t *testing.T) {
			told, found := row.cluster.must(t).Explain(mapi + "a")
			if !found {
				t.Fatal("it is not there")
			}
			says(t, printed(t, told), row.says...)
		})
	}
	if _, found := old.must(t).Explain(mapi + "x"); found {
		t.Error("it explains what is not there")
	}
}

func TestExplain_the_gate_in_the_order_of_its_questions(t *testing.T) {
	cluster := ready(open(""))
	find[*configv1.ClusterVersion](cluster).Status.History[0].State = configv1.PartialUpdate
	gate, err := cluster.must(t).ExplainGate()
	if err != nil {
		t.Fatal(err)
	}
	says(t, printed(t, gate), "Gate: WaitingForRelease", "1. Applies: Yes: boot images are managed on AWS", "2. ConfigIsResolved: Yes", "generation 3, observed 3; its status is the operator's to write",
		"3. ReleaseIsComplete: No: the upgrade to 4.22.1 is Partial", "history[0]: 4.22.1 Partial", "names 1 images", "5. GoldenIsVouched: Yes", "MCOReleaseImageVersion=4.22.1, releaseVersion=4.22.1",
		"machinesets.machine.openshift.io All", "controlplanemachinesets.machine.openshift.io None", "machinesets.cluster.x-k8s.io none: nobody has said anything")
}

func TestLook_says_which_right_is_missing(t *testing.T) {
	cluster := ready(open(""), awsSet("a", "ami-new"))
	cluster.forbids = []string{"MachineSetList"}
	_, err := cluster.look(t)
	var told *inspect.Error
	if !errors.As(err, &told) || !strings.Contains(told.What, "not allowed to list MachineSets in namespace openshift-machine-api") {
		t.Errorf("got %v", err)
	}
}

func TestName(t *testing.T) {
	cluster := ready(open(""), awsSet("worker", "ami-new"), awsSet("worker-2", "ami-new"), clusterAPISet("worker"), clusterAPISet("other"))
	look := cluster.must(t)
	for text, want := range map[string]string{
		"machinesets.machine.openshift.io/worker": mapi + "worker",
		"machineset.cluster.x-k8s.io/worker":      "machinesets.cluster.x-k8s.io/worker",
		"MachineSet/worker-2":                     mapi + "worker-2",
		"ms/other":                                "machinesets.cluster.x-k8s.io/other",
		"other":                                   "machinesets.cluster.x-k8s.io/other",
		"machineset/worker":                       "is ambiguous next: name one of these: machinesets.cluster.x-k8s.io/worker, " + mapi + "worker",
		"machineset/wroker-2":                     "does not exist next: near it are: " + mapi + "worker-2",
		"pod/worker":                              `boot images are not those of "pod"`,
		"machineset/":                             "names no target",
		"a/b/c":                                   "names no target",
	} {
		got, err := look.Name(text)
		told := string(got)
		if err != nil {
			told = strings.Join(strings.Fields(err.Error()), " ")
		}
		if !strings.Contains(told, want) {
			t.Errorf("%s is %q, want %q", text, told, want)
		}
	}
	cluster.apis = []string{"ClusterAPI"}
	if _, err := cluster.must(t).Name("cpms/cluster"); err == nil || !strings.Contains(err.Error(), "moves no boot images of MachineAPI") {
		t.Errorf("got %v", err)
	}
}

func TestFollow_leaves_a_failed_target_where_it_is_unless_it_is_opted_out(t *testing.T) {
	look := ready(open(""), awsSet("a", "ami-old")).must(t)
	shot := look.targets[0].shot
	failed := machine.Record{State: "Failed", CameFrom: "Cloning", LastEvent: "ProgressStalled", Entry: machine.Entry{Inputs: "others"}}
	led, err := follow(table.Table, failed, shot.Facts, now)
	if err != nil || led.record.State != "Failed" {
		t.Errorf("it is led to %s, %v", led.record.State, err)
	}
	shot.Facts.Enrolment.Is = false
	if led, err = follow(table.Table, failed, shot.Facts, now); err != nil || led.record.State != "Unenrolled" {
		t.Errorf("it is led to %s, %v", led.record.State, err)
	}
}

func TestEverything_is_told_in_one_screen(t *testing.T) {
	cluster := ready(open(""), awsSet("worker-a", "ami-new"), awsSet("worker-b", "ami-mine"), clusterAPISet("worker-c"))
	look := cluster.must(t)
	status, err := look.Status("")
	if err != nil {
		t.Fatal(err)
	}
	gate, err := look.ExplainGate()
	if err != nil {
		t.Fatal(err)
	}
	target, _ := look.Explain(mapi + "worker-b")
	const screen = 40
	for file, of := range map[string]interface {
		Write(io.Writer, time.Time) error
	}{"status": status, "gate": gate, "target": target} {
		text := printed(t, of)
		if lines := strings.Count(text, "\n"); lines > screen {
			t.Errorf("%s has %d lines", file, lines)
		}
		golden.Assert(t, text, file+".txt")
		encoded, err := json.MarshalIndent(of, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden.Assert(t, string(encoded)+"\n", file+".json")
	}
}
