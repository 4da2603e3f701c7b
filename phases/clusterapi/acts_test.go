package clusterapi

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/recorder"
	"github.com/capstan-capi/capstan/phases/render/admission"
)

const anHour = "by: anna\nat: 2026-01-31T12:00:00Z\nuntil: 2026-01-31T13:00:00Z\nreason: etcd is slow"

// acting is a pass over a ClusterAPI with annotations, at a moment.
func acting(live client.Reader, now time.Time, annotations map[string]string) *Pass {
	return &Pass{
		Phases: &Phases{Live: live, Now: func() time.Time { return now }, Log: logr.Discard()},
		world:  world{api: &operatorv1alpha1.ClusterAPI{ObjectMeta: metav1.ObjectMeta{Name: Singleton, Annotations: annotations}}},
	}
}

func policies() client.Reader { return policiesThat(admissionregistrationv1.Deny) }

// policiesThat are those that this release brings, bound so that they do something with what they do not like.
func policiesThat(do admissionregistrationv1.ValidationAction) client.Reader {
	policy, binding := admission.Acts()
	binding.Spec.ValidationActions = []admissionregistrationv1.ValidationAction{do}
	return fake.NewClientBuilder().WithObjects(policy, binding).Build()
}

func TestReadActs(t *testing.T) {
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		live        client.Reader
		now         time.Time
		annotations map[string]string
		stands      bool
		again       time.Duration
		told        string
	}{
		"a pause that stands":                {policies(), noon.Add(time.Minute), map[string]string{acts.Annotation(acts.Pause): anHour}, true, 59 * time.Minute, "pause by anna since 2026-01-31 12:00:00Z until 2026-01-31 13:00:00Z: etcd is slow"},
		"one without a policy":               {fake.NewClientBuilder().Build(), noon, map[string]string{acts.Annotation(acts.Pause): anHour}, true, time.Minute, "who it was is unproved"},
		"one with a policy that only audits": {policiesThat(admissionregistrationv1.Audit), noon, map[string]string{acts.Annotation(acts.Pause): anHour}, true, time.Minute, "who it was is unproved"},
		"one that has ended":                 {policies(), noon.Add(time.Hour), map[string]string{acts.Annotation(acts.Pause): anHour}, false, 0, "(ended at 2026-01-31 13:00:00Z)"},
		"one from ahead":                     {policies(), noon.Add(-time.Hour), map[string]string{acts.Annotation(acts.Pause): anHour}, false, 59 * time.Minute, "more than a minute ahead"},
		"one that is none":                   {policies(), noon, map[string]string{acts.Annotation(acts.Pause): "true"}, false, 0, "act pause is void: line 1"},
		"another act":                        {policies(), noon, map[string]string{acts.Annotation(acts.LeaveAlone): anHour + "\nobject: ConfigMap a/b"}, false, time.Hour, "leave-alone of ConfigMap a/b by anna since 2026-01-31 12:00:00Z until 2026-01-31 13:00:00Z: etcd is slow"},
		"a consent by a number":              {policies(), noon, map[string]string{acts.ConsentAct: "4"}, false, 0, "act consent-to-delete is void: line 1"},
		"nothing":                            {policies(), noon, nil, false, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := acting(row.live, row.now, row.annotations)
			all := p.readActs(t.Context())
			if pause := pauseOf(all); pause.Stands != row.stands || p.lookAgain != row.again {
				t.Errorf("the pause is %+v, and is looked at again in %s", pause, p.lookAgain)
			}
			if text := strings.Join(guards.Texts(all), "\n"); !strings.Contains(text, row.told) || (text == "") != (row.told == "") {
				t.Errorf("told is %q", text)
			}
		})
	}
}

func TestReadActs_asks_for_the_policy_once_for_each_text(t *testing.T) {
	live := &counting{Reader: policies()}
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	annotations := map[string]string{acts.Annotation(acts.Pause): anHour, acts.Annotation(acts.Pin): anHour + "\nrevision: 4"}
	p := acting(live, noon, annotations)
	for range 3 {
		p.readActs(t.Context())
	}
	if live.reads != 4 {
		t.Errorf("it has asked %d times for two policies and two texts", live.reads)
	}
	delete(annotations, acts.Annotation(acts.Pin))
	if p.readActs(t.Context()); len(p.memory.proved) != 1 {
		t.Errorf("it remembers %v", p.memory.proved)
	}
}

func TestReadActs_asks_again_for_a_policy_that_comes_later(t *testing.T) {
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	live := &counting{Reader: fake.NewClientBuilder().Build()}
	p := acting(live, noon, map[string]string{acts.Annotation(acts.Pause): anHour})
	now := noon
	p.Phases.Now = func() time.Time { return now }
	unproved := func() bool { return p.readActs(t.Context())[0].Unproved }
	if one, two := unproved(), unproved(); !one || !two || live.reads != 1 {
		t.Errorf("without a policy it has asked %d times", live.reads)
	}
	live.Reader = policies()
	if now = noon.Add(askPolicyAgain - time.Second); !unproved() || p.lookAgain != time.Second {
		t.Errorf("before it asks again, it looks again in %s", p.lookAgain)
	}
	now = noon.Add(askPolicyAgain)
	if one, two := unproved(), unproved(); one || two || live.reads != 3 {
		t.Errorf("with a policy it has asked %d times", live.reads)
	}
}

func TestActEvents(t *testing.T) {
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	stands := guards.Act{Name: "pause", By: "anna", At: noon, Until: noon.Add(time.Hour), Reason: "r"}
	ended, void := stands, guards.Act{Name: "pause", Void: "line 1"}
	ended.Void, ended.Ended = "it ended at noon", true
	used := ended
	used.Used = true
	for name, row := range map[string]struct {
		before, now []guards.Act
		want        []string
	}{
		"it comes":                 {nil, []guards.Act{stands}, []string{"false ActStands"}},
		"it stays":                 {[]guards.Act{stands}, []guards.Act{stands}, nil},
		"its time is over":         {[]guards.Act{stands}, []guards.Act{ended}, []string{"false ActEnded"}},
		"it comes ended":           {nil, []guards.Act{ended}, []string{"false ActEnded"}},
		"it has ended still":       {[]guards.Act{ended}, []guards.Act{ended}, nil},
		"it comes used":            {nil, []guards.Act{used}, nil},
		"it is taken back":         {[]guards.Act{stands}, nil, []string{"false ActEnded"}},
		"it is gone after its end": {[]guards.Act{ended}, nil, nil},
		"it is void":               {nil, []guards.Act{void}, []string{"true ActVoid"}},
		"it is void in its place":  {[]guards.Act{stands}, []guards.Act{void}, []string{"false ActEnded", "true ActVoid"}},
		"it is void still":         {[]guards.Act{void}, []guards.Act{void}, nil},
	} {
		var got []string
		for _, e := range actEvents(row.before, row.now) {
			if there := indexOf(row.now, ended) >= 0; e.Reason == "ActEnded" && strings.Contains(e.Text, "(ended at noon)") != there {
				t.Errorf("%s: told is %q", name, e.Text)
			}
			got = append(got, fmt.Sprintf("%v %s", e.Warns, e.Reason))
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

func TestWhatStands_is_what_the_operator_obeys(t *testing.T) {
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	told := func(name, void string) []guards.Act {
		act := guards.Act{Name: name, By: "anna", At: noon, Until: noon.Add(time.Hour), Void: void}
		if name == acts.Pin {
			act.Revision = 4
		}
		return []guards.Act{act}
	}
	waits := told(acts.Pin, "")
	waits[0].Waits = "images are being fetched"
	for name, row := range map[string]struct {
		act, text string
		now       time.Time
		told      []guards.Act
		stop      string
	}{
		"a pause of which nothing is told":          {acts.Pause, anHour, noon, nil, "pause"},
		"a pause that is obeyed":                    {acts.Pause, anHour, noon, told(acts.Pause, ""), "pause"},
		"a pause by a clock that is behind":         {acts.Pause, anHour, noon.Add(-time.Hour), told(acts.Pause, ""), "pause"},
		"a pause that has ended since it was told":  {acts.Pause, anHour, noon.Add(time.Hour), told(acts.Pause, ""), ""},
		"a pin of which nothing is told":            {acts.Pin, anHour + "\nrevision: 4", noon, nil, "pin"},
		"a pin of which something else is told":     {acts.Pin, anHour + "\nrevision: 4", noon, told(acts.Pause, "it ended"), "pin"},
		"a pin that is obeyed":                      {acts.Pin, anHour + "\nrevision: 4", noon, told(acts.Pin, ""), "pin"},
		"a pin that waits":                          {acts.Pin, anHour + "\nrevision: 4", noon, waits, "pin"},
		"a pin that is ignored":                     {acts.Pin, anHour + "\nrevision: 4", noon.Add(takeUpWithin), told(acts.Pin, "it was not taken up within 10m0s"), ""},
		"a pin that may be taken up still":          {acts.Pin, anHour + "\nrevision: 4", noon.Add(time.Minute), told(acts.Pin, "it is not taken up: image a is not to be had"), "pin"},
		"a pin that was edited since it was told":   {acts.Pin, anHour + "\nrevision: 5", noon.Add(takeUpWithin), told(acts.Pin, "it was not taken up within 10m0s"), "pin"},
		"a rollback of another list than there is":  {acts.Pin, "by: anna\nat: 2026-01-31T12:00:00Z\nreason: r\nrevision: 4\nlist: abc", noon, nil, ""},
		"what is no act, whatever is told of those": {acts.Pin, "true", noon, told(acts.Pin, ""), ""},
	} {
		p := acting(policies(), row.now, map[string]string{acts.Annotation(row.act): row.text})
		var stops []string
		for _, o := range p.whatStands(row.told) {
			stops = append(stops, o.What)
		}
		if got := strings.Join(stops, " "); got != row.stop {
			t.Errorf("%s: the stops are %q, want %q", name, got, row.stop)
		}
	}
}

func TestDiffers_counts_what_it_does_not_name(t *testing.T) {
	report := &engine.Report{Waves: []*engine.Wave{{}}}
	for i := range 25 {
		report.Waves[0].Objects = append(report.Waves[0].Objects, &engine.Object{Key: engine.Key{Kind: "ConfigMap", Namespace: "a", Name: fmt.Sprint(i)}, Action: engine.Pending, Why: "does not exist"})
	}
	named, more := differs([]*engine.Report{report})
	if len(named) != maxDiffers || more != 5 || detailOf("", guards.Display{Differs: named, MoreDiffers: more}, nil).DiffersCount != 25 {
		t.Errorf("named are %d, and %d more", len(named), more)
	}
	if named, more := differs([]*engine.Report{{}}); len(named) != 0 || more != 0 {
		t.Errorf("of nothing named are %v, and %d more", named, more)
	}
}

// recording has a pass record, and returns what comes to be stored of acts, as "action act: text".
func recording(t *testing.T, p *Pass) (stored func() []string) {
	t.Helper()
	c := fake.NewFakeClient()
	key := client.ObjectKey{Namespace: "ops", Name: recorder.ConfigMap}
	r := recorder.New(c, c, key, clocktesting.NewFakeClock(p.Now()), logr.Discard())
	p.recorder = r.Of("clusterapi", "")
	return func() (lines []string) {
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if err := r.Run(over); err != nil { // which writes what there is, and ends
			t.Fatal(err)
		}
		written := &corev1.ConfigMap{}
		if err := c.Get(t.Context(), key, written); err != nil {
			t.Fatal(err)
		}
		entries, err := recorder.Of(written)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Kind == recorder.Act {
				lines = append(lines, e.Action+" "+e.Object+": "+e.Text)
			}
		}
		return lines
	}
}

func TestRecordActs_records_once_what_is_seen_and_once_that_it_ended(t *testing.T) {
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	p := acting(policies(), noon, map[string]string{acts.PauseAct: anHour, acts.AdoptAct: "yes"})
	stored := recording(t, p)
	pass := func() { p.recordActs(p.readActs(t.Context())) }
	pass()
	pass()
	p.Now = func() time.Time { return noon.Add(time.Hour) }
	pass()
	pass()
	const paused = "pause by anna since 2026-01-31 12:00:00Z until 2026-01-31 13:00:00Z: etcd is slow"
	want := []string{"seen pause: " + paused, `seen adopt: act adopt is void: line 1: it is not as "key: value" is`, "ended pause: " + paused + " (ended at 2026-01-31 13:00:00Z)"}
	if got := stored(); !slices.Equal(got, want) {
		t.Errorf("recorded is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
