package bootgate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/golden"
)

// open is a cluster whose gate is open, with these targets on the board, all judged.
func open(t *testing.T, standings ...bootboard.Standing) *bench {
	t.Helper()
	b := newBench(t, nil, ready()...)
	b.pass(KeepConfig)
	b.pass(RetireClones)
	b.stand(standings...)
	b.writes, b.now = nil, b.now.Add(every)
	return b
}

// stand has targets stand, judged by what the board says.
func (b *bench) stand(standings ...bootboard.Standing) {
	var keys []machine.Key
	for _, s := range standings {
		s.News, s.Kind, s.Counts = b.Board.Verdict().News, golden.MachineSets, true
		keys = append(keys, machine.Key(s.Name))
		b.Board.Stand(machine.Key(s.Name), s)
	}
	b.Board.OnRoster(func() ([]machine.Key, bool) { return keys, true })
}

func TestAge_of_the_boot_images(t *testing.T) {
	done, working := bootboard.Standing{Name: "a", Done: true}, bootboard.Standing{Name: "a", Working: true}
	skipped, stuck := bootboard.Standing{Name: "b", Skipped: true}, bootboard.Standing{Name: "b", Stuck: true}
	for name, row := range map[string]struct {
		standings  []bootboard.Standing
		of         string
		upgradable bool
		says       string
	}{
		"all have moved":     {[]bootboard.Standing{done}, "4.22.1", true, ""},
		"there is none":      {nil, "4.22.1", true, ""},
		"one moves":          {[]bootboard.Standing{working}, "4.12.3", false, "4.12.3"},
		"one is undecided":   {[]bootboard.Standing{done, {Name: "b"}}, "4.12.3", false, "4.12.3"},
		"one is skipped":     {[]bootboard.Standing{done, skipped}, "4.12.3", false, "4.12.3"},
		"one is stuck":       {[]bootboard.Standing{done, stuck}, "4.12.3", false, "boot images of machinesets.machine.openshift.io/b cannot be moved"},
		"one moves, one not": {[]bootboard.Standing{working, stuck}, "4.12.3", false, "4.12.3"},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, row.standings...)
			pass, _ := b.pass(RetireClones)
			if got := b.config().Status.BootImageSkewEnforcementStatus; got.Mode != automatic || got.Automatic.OCPVersion != row.of {
				t.Errorf("recorded is %+v, want %s", got, row.of)
			}
			if up := pass.Upgradeable; up == nil || up.Is != row.upgradable || !strings.Contains(up.Message, row.says) {
				t.Errorf("it is upgradeable: %+v", up)
			}
		})
	}
}

func TestAge_is_that_of_before_while_one_moves_also_through_a_restart(t *testing.T) {
	b := open(t, bootboard.Standing{Name: "a", Done: true})
	b.pass(RetireClones)
	b.stand(bootboard.Standing{Name: "a", Working: true})
	if pass, _ := b.pass(RetireClones); !pass.Upgradeable.Is || b.config().Status.BootImageSkewEnforcementStatus.Automatic.OCPVersion != "4.22.1" {
		t.Errorf("while one moves it is %+v", pass.Upgradeable)
	}
	operator := &configv1.ClusterOperator{ObjectMeta: metav1.ObjectMeta{Name: ClusterOperator}}
	operator.Status.Conditions = []configv1.ClusterOperatorStatusCondition{{Type: Controller + "Upgradeable", Status: configv1.ConditionFalse, Reason: SkewError, Message: "as before"}}
	if err := b.cluster.Create(t.Context(), operator); err != nil {
		t.Fatal(err)
	}
	b.Phases = New(b.Options)
	if _, pass := b.look(); pass.Upgradeable.Is || pass.Upgradeable.Message != "as before" || pass.Upgradeable.Reason != SkewError {
		t.Errorf("after a restart it is %+v", pass.Upgradeable)
	}
}

func TestSums_of_a_verdict_that_is_another_now_say_nothing_of_what_has_moved(t *testing.T) {
	b := open(t, bootboard.Standing{Name: "a", Done: true})
	next := goldenMap("", "")
	b.edit(next, func() { next.Data["stream"] = stream("ami-2") })
	if _, pass := b.look(); pass.Targets.Judged || !pass.Targets.Stand {
		t.Errorf("the sums are %+v", pass.Targets)
	}
	if b.pass(RetireClones); b.config().Status.BootImageSkewEnforcementStatus.Automatic.OCPVersion != "4.12.3" {
		t.Error("the age of images is recorded that nobody has moved to")
	}
}

// tells tells what stands, as a pass does at its end, and returns the types and statuses of all conditions.
func (b *bench) tells(pass *Pass, told ...Condition) (string, time.Duration) {
	b.t.Helper()
	later, err := b.tellConfig(b.t.Context(), pass, told)
	if err != nil {
		b.t.Fatal(err)
	}
	var all []string
	for _, c := range b.config().Status.Conditions {
		all = append(all, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Message))
	}
	slices.Sort(all)
	return strings.Join(all, ", "), later
}

func TestTellConfig_tells_every_two_seconds_and_takes_back_what_it_does_not_tell_any_more(t *testing.T) {
	b := open(t, bootboard.Standing{Name: "a", Done: true})
	condition := func(kind, message string) Condition {
		return Condition{Type: kind, Is: true, Reason: machine.AsExpected, Message: message}
	}
	for _, row := range []struct {
		after time.Duration
		told  Condition
		want  string
		later time.Duration
	}{
		{0, condition("A", "one"), "A=True one", 0},
		{time.Second, condition("A", "one"), "A=True one", 0},
		{0, condition("A", "two"), "A=True one", time.Second},
		{time.Second, condition("A", "two"), "A=True two", 0},
		{time.Minute, condition("B", "two"), "B=True two", 0},
	} {
		b.now = b.now.Add(row.after)
		_, pass := b.look()
		if got, later := b.tells(pass, row.told); got != row.want || later != row.later {
			t.Errorf("told is %q, and more in %s; want %q, %s", got, later, row.want, row.later)
		}
	}
}

func TestTellConfig_right_after_a_start_what_was_told_stays(t *testing.T) {
	b := newBench(t, nil, ready()...)
	b.pass(KeepConfig)
	_, pass := b.look()
	if got, later := b.tells(pass, Condition{Type: "A"}); got != "" || later != listing {
		t.Errorf("told is %q, and more in %s", got, later)
	}
	b.now = b.now.Add(listing)
	_, pass = b.look()
	if got, later := b.tells(pass, Condition{Type: "A"}); got != "A=False " || later != 0 {
		t.Errorf("told is %q, and more in %s", got, later)
	}
}

func TestWave_is_told_once_of_what_a_verdict_has_moved(t *testing.T) {
	b := open(t)
	pass := func(moved string, standing bootboard.Standing) {
		b.pass(RetireClones) // posts what there is to be judged by
		for _, key := range strings.Fields(moved) {
			b.Board.Moved(machine.Key(key), b.Board.Verdict().News)
			b.Board.Stand(machine.Key(key), bootboard.Standing{})
		}
		b.stand(standing)
		_, seen := b.look()
		b.tellWave(Snapshot{Seen: seen})
	}
	upgrade := func(image string) {
		next := goldenMap("", "")
		b.edit(next, func() { next.Data["stream"] = stream(image) })
	}
	for _, row := range []struct {
		what     string
		golden   string
		moved    string
		standing bootboard.Standing
		told     int
	}{
		{"a start at which nothing moves", "", "", bootboard.Standing{Name: "a", Done: true}, 0},
		{"a set that was reverted", "", "a", bootboard.Standing{Name: "a", Done: true}, 0},
		{"a wave that goes on, with a set that was reverted in it", "ami-2", "a b a", bootboard.Standing{Name: "a", Working: true}, 0},
		{"its end", "", "c", bootboard.Standing{Name: "a", Stuck: true}, 1},
		{"after it", "", "", bootboard.Standing{Name: "a", Stuck: true}, 1},
		{"another try of it", "", "a", bootboard.Standing{Name: "a", Done: true}, 1},
		{"a golden image that moves nothing", "ami-3", "", bootboard.Standing{Name: "a", Skipped: true}, 1},
		{"another one, which is skipped at first", "ami-4", "", bootboard.Standing{Name: "a", Skipped: true}, 1},
		{"and then moved to it", "", "a", bootboard.Standing{Name: "a", Done: true}, 2},
		{"a set that was reverted then", "", "a", bootboard.Standing{Name: "a", Done: true}, 2},
	} {
		if row.golden != "" {
			upgrade(row.golden)
		}
		if pass(row.moved, row.standing); len(b.told) != row.told {
			t.Fatalf("after %s told is %+v", row.what, b.told)
		}
	}
	if e := b.told[0]; e.About.Kind != "MachineConfiguration" || !e.Warns ||
		e.Text != "3 moved: 0 of 1 targets have the golden boot image (MachineAPI MachineSet 0/1)" {
		t.Errorf("told is %+v", e)
	}
}

func TestDetail_has_a_bound(t *testing.T) {
	var standings []bootboard.Standing
	for i := range 200 {
		standings = append(standings, bootboard.Standing{Name: fmt.Sprintf("%03d%s", i, strings.Repeat("x", 200)), Counts: true, Skipped: true, Why: strings.Repeat("y", 2000)})
	}
	pass := &Pass{
		Phases: New(Options{Settings: Settings{APIs: []string{MachineAPI}}}), standings: append(standings, bootboard.Standing{Name: "done", Counts: true, Done: true}),
	}
	encoded := detailOf("line", Snapshot{Seen: pass}).encode()
	var detail Detail
	if err := json.Unmarshal(encoded, &detail); err != nil || len(encoded) > maxDetail || len(detail.Targets)+detail.More != 200 || len(detail.Targets) < 16 || len(detail.Settings.APIs) != 1 {
		t.Errorf("%d bytes tell of %d targets and %d more, by %+v: %v", len(encoded), len(detail.Targets), detail.More, detail.Settings, err)
	}
}

func TestVerdict_is_news_when_anything_of_it_is_another(t *testing.T) {
	b := open(t)
	_, pass := b.look()
	before := pass.Verdict().News
	trusted := goldenMap("", "")
	trusted.Namespace, trusted.Name, trusted.Data = "ops", TrustedConfigMap, map[string]string{"mine": "ami-mine"}
	if err := b.cluster.Create(t.Context(), trusted); err != nil {
		t.Fatal(err)
	}
	_, pass = b.look()
	if v := pass.Verdict(); v.News == before || !v.Cluster.Provenance.Knows("ami-mine") {
		t.Error("a trusted image is no news")
	}
	before = pass.Verdict().News
	config := configuration()
	b.edit(config, func() { config.Annotations = map[string]string{MachineSetsAnnotation: "All"} })
	if _, pass = b.look(); pass.Verdict().News == before {
		t.Error("an enrolment is no news")
	}
	before = pass.Verdict().News
	b.edit(config, func() { config.Spec.LogLevel = "Debug" })
	if _, pass = b.look(); pass.Verdict().News != before {
		t.Error("what has nothing to do with boot images is news")
	}
	version := &configv1.ClusterVersion{ObjectMeta: metav1.ObjectMeta{Name: Version}}
	b.edit(version, func() { version.Status.History = history("4.20.9", "4.12.3") })
	if _, pass = b.look(); !pass.Verdict().Cluster.ControlPlaneRollsOut {
		t.Error("the ControlPlaneMachineSet of 4.20 replaces no machines")
	}
	if err := b.cluster.Delete(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if _, pass = b.look(); pass.Verdict().Open || pass.Verdict().Enrols == nil || len(pass.Verdict().Enrols) > 0 {
		t.Errorf("without a MachineConfiguration the verdict is %+v", pass.Verdict())
	}
}
