package house

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	testclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/events"
	"github.com/capstan-capi/capstan/phases/recorder"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// family is a world of instances with a switch each: on is Ready, off is Waiting.
type family struct {
	machine.Table[bool, machine.Key]
	mu      sync.Mutex
	on      map[machine.Key]bool
	errs    map[machine.Key]error
	did     string // by work, and by the effect of TurnedOn
	records map[machine.Key]machine.Record
	gone    map[machine.Key]bool
	made    int // how often each object was made anew
	// forgetAgain is after how long the store wants to be asked to forget again.
	forgetAgain time.Duration
}

func (f *family) Load(_ context.Context, key machine.Key) (machine.Record, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	record, found := f.records[key]
	return record, found, nil
}

func (f *family) Forget(_ context.Context, key machine.Key) (time.Duration, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.records, key)
	return f.forgetAgain, nil
}

func (f *family) Save(_ context.Context, key machine.Key, s machine.Snapshot[bool, machine.Key]) (time.Duration, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.records[key] = s.Record
	return 0, nil
}

// newFamily is a family, its reconciler, and the log lines and Events of it.
func newFamily(t *testing.T, name string) (f *family, r *Reconciler[bool, machine.Key], clock *testclock.FakeClock, told func() []string, flight func() []recorder.Entry) {
	t.Helper()
	f = &family{on: map[machine.Key]bool{}, errs: map[machine.Key]error{}, records: map[machine.Key]machine.Record{}, gone: map[machine.Key]bool{}}
	isOn := machine.Guard[bool]{Name: "IsOn", Doc: "The switch is on.", Ask: func(on bool) machine.Answer { return machine.Say(on, "") }}
	work := machine.Action[machine.Key]{Name: "Work", Doc: "does what the test says.", Run: func(_ context.Context, key machine.Key) (machine.Result, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if err := f.errs[key]; err != nil && err.Error() == "panic" {
			panic("out of order")
		}
		return machine.Result{Did: f.did}, f.errs[key]
	}}
	effect := work
	effect.Name = "Effect"
	f.Table = machine.Table[bool, machine.Key]{
		Name: name, Start: "Waiting",
		States: []machine.StateRow[machine.Key]{{Name: "Waiting", Rest: true, Work: work}, {Name: "Ready", Rest: true, Work: work}},
		Moves: []machine.Move[bool, machine.Key]{
			{On: "TurnedOn", From: []machine.State{"Waiting"}, To: "Ready", If: isOn, Do: effect},
			{On: "TurnedOff", From: []machine.State{"Ready"}, To: "Waiting", If: machine.Not(isOn)},
		},
	}
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	clock = testclock.NewFakeClock(noon)
	cluster := fake.NewClientBuilder().WithScheme(scheme).Build()
	kept := client.ObjectKey{Namespace: "ops", Name: recorder.ConfigMap}
	h := &House{Clock: clock, Queue: clock, Recorder: recorder.New(cluster, cluster, kept, clock, logr.Discard()), Events: &events.Writer{}}
	r = NewReconciler(h, Machine[bool, machine.Key]{
		Table: f.Table, Store: f, UID: func(key machine.Key) string { return fmt.Sprintf("%s %d", key, f.made) },
		Observe: func(_ context.Context, key machine.Key) (bool, machine.Key, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.on[key], key, nil
		},
		Exists: func(_ context.Context, key machine.Key) (bool, error) { return !f.gone[key], nil },
		Words: func(key machine.Key, s machine.Snapshot[bool, machine.Key]) Words {
			return Words{Line: string(s.Record.State), Subject: "subject of " + string(key), About: corev1.ObjectReference{Kind: "Switch", Name: string(key)}}
		},
	})
	var lines []string
	for _, teller := range r.tellers {
		if e, is := teller.(*eventTeller); is {
			e.tell = func(n events.Event) {
				lines = append(lines, fmt.Sprintf("Event by %s about %s %s: %s", n.By, n.About.Kind, n.About.Name, n.Text))
			}
		}
	}
	told = func() []string { defer func() { lines = nil }(); return lines }
	flight = func() []recorder.Entry {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := h.Recorder.Run(ctx); err != nil {
			t.Fatal(err)
		}
		stored := &corev1.ConfigMap{}
		if err := cluster.Get(t.Context(), kept, stored); err != nil {
			t.Fatal(err)
		}
		entries, err := recorder.Read(stored.BinaryData["entries.jsonl.gz"])
		if err != nil {
			t.Fatal(err)
		}
		return entries
	}
	return f, r, clock, told, flight
}

func pass(t *testing.T, r *Reconciler[bool, machine.Key], key machine.Key) ctrl.Result {
	t.Helper()
	result, err := r.Reconcile(t.Context(), requestOf(key))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func gauge(name, state string) float64 {
	var got dto.Metric
	metric := stateMetric.WithLabelValues(name, state)
	if err := metric.(prometheus.Metric).Write(&got); err != nil {
		return -1
	}
	return got.GetGauge().GetValue()
}

func TestReconciler_metrics_count_instances_by_state(t *testing.T) {
	f, r, _, _, _ := newFamily(t, "counted")
	count := func(waiting, ready float64) {
		t.Helper()
		if got := [2]float64{gauge("counted", "Waiting"), gauge("counted", "Ready")}; got != [2]float64{waiting, ready} {
			t.Errorf("Waiting and Ready are %v, want %v and %v", got, waiting, ready)
		}
	}
	count(0, 0)
	pass(t, r, "ns/one")
	pass(t, r, "ns/two")
	pass(t, r, "ns/two")
	count(2, 0)
	f.on["ns/two"] = true
	pass(t, r, "ns/two")
	count(1, 1)
	f.gone["ns/one"], f.forgetAgain = true, time.Second
	if got := pass(t, r, "ns/one").RequeueAfter; got != time.Second {
		t.Errorf("it is forgotten again in %s", got)
	}
	pass(t, r, "ns/one")
	count(0, 1)
	if _, kept := f.records["ns/one"]; kept || len(f.records) != 1 {
		t.Errorf("kept are %v", f.records)
	}
}

func TestReconciler_an_object_that_is_made_anew_begins_anew(t *testing.T) {
	f, r, _, _, _ := newFamily(t, "anew")
	f.on["one"] = true
	pass(t, r, "one")
	if got := f.records["one"]; got.State != "Ready" || got.UID != "one 0" {
		t.Fatalf("stored is %+v", got)
	}
	f.on["one"], f.made = false, 1
	pass(t, r, "one")
	if got := f.records["one"]; got.State != "Waiting" || got.UID != "one 1" || len(got.Transitions) != 0 {
		t.Errorf("stored is %+v", got)
	}
}

func TestReconciler_an_error_or_a_panic_holds_up_its_own_key_only(t *testing.T) {
	f, r, _, _, flight := newFamily(t, "apart")
	f.errs["bad"], f.errs["worse"] = errors.New("it is stuck"), errors.New("panic")
	for key, want := range map[machine.Key]bool{"good": false, "bad": true, "worse": true} {
		if got := pass(t, r, key).RequeueAfter; (got > 0) != want || got > 30*time.Second {
			t.Errorf("%s is tried again in %s", key, got)
		}
	}
	got := map[machine.Key]string{}
	for _, e := range flight() {
		if e.Machine != "apart" || e.Kind != recorder.Failure {
			t.Errorf("recorded is %+v", e)
		}
		got[e.Key] = e.Text
	}
	if len(got) != 2 || got["bad"] != "it is stuck" || !strings.Contains(got["worse"], "out of order") {
		t.Errorf("recorded is %q", got)
	}
}

func TestReconciler_one_transition_is_told_once_everywhere(t *testing.T) {
	f, r, _, told, flight := newFamily(t, "told")
	f.on["one"] = true
	var logged []string
	ctx := log.IntoContext(t.Context(), funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{}))
	for range 3 {
		if _, err := r.Reconcile(ctx, requestOf("one")); err != nil {
			t.Fatal(err)
		}
	}
	if len(logged) != 1 || !strings.Contains(logged[0], `"msg"="moved" "from"="Waiting" "event"="TurnedOn" "state"="Ready"`) {
		t.Errorf("logged is %q", logged)
	}
	if got := told(); len(got) != 1 || got[0] != "Event by capstan-told about Switch one: Ready [Waiting --TurnedOn--> Ready]" {
		t.Errorf("announced is %q", got)
	}
	if got := flight(); len(got) != 1 || got[0].Kind != recorder.Transition || got[0].Machine != "told" || got[0].Key != "one" || got[0].Revision != "subject of one" {
		t.Errorf("recorded is %+v", got)
	}
}

func TestReconciler_what_an_effect_and_work_have_done_is_logged_and_recorded(t *testing.T) {
	f, r, _, _, flight := newFamily(t, "did")
	var logged []string
	ctx := log.IntoContext(t.Context(), funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{}))
	f.on["one"] = true
	for _, did := range []string{"turned the light on", "changed the bulb", ""} {
		f.did = did
		if _, err := r.Reconcile(ctx, requestOf("one")); err != nil {
			t.Fatal(err)
		}
	}
	if len(logged) != 2 || !strings.Contains(logged[0], `"msg"="moved"`) || !strings.Contains(logged[0], `"did"="turned the light on"`) ||
		!strings.Contains(logged[1], `"msg"="worked" "state"="Ready" "work"="Work" "did"="changed the bulb"`) {
		t.Errorf("logged is %q", logged)
	}
	got := flight()
	if len(got) != 2 || got[0].Kind != recorder.Transition || got[0].Did != "turned the light on" {
		t.Fatalf("recorded is %+v", got)
	}
	if work := got[1]; work.Kind != recorder.Work || work.Action != "Work" || work.Did != "changed the bulb" || work.Key != "one" || work.Revision != "subject of one" {
		t.Errorf("recorded is %+v", work)
	}
}

func TestReconciler_the_same_error_of_a_key_is_logged_once(t *testing.T) {
	f, r, _, _, _ := newFamily(t, "said")
	var logged []string
	ctx := log.IntoContext(t.Context(), funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{}))
	expect := func(what string, key machine.Key, err error, want int) {
		t.Helper()
		f.errs[key] = err
		logged = nil
		if _, err := r.Reconcile(ctx, requestOf(key)); err != nil {
			t.Fatal(err)
		}
		if len(logged) != want {
			t.Errorf("%s: logged is %q", what, logged)
		}
	}
	away := errors.New("away")
	expect("an error", "one", away, 1)
	expect("the same again", "one", away, 0)
	expect("the same of another key", "two", away, 1)
	expect("it is still the first one's last", "one", away, 0)
	expect("another", "one", errors.New("other"), 1)
	expect("none", "one", nil, 0)
	expect("the first again", "one", away, 1)
}

func TestReconciler_an_error_of_any_length_is_logged_short(t *testing.T) {
	f, r, _, _, _ := newFamily(t, "short")
	var logged []string
	ctx := log.IntoContext(t.Context(), funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{}))
	f.errs["one"], f.errs["two"] = errors.New(strings.Repeat("long ", 1<<20)), errors.New("panic")
	for _, key := range []machine.Key{"one", "two"} {
		if _, err := r.Reconcile(ctx, requestOf(key)); err != nil {
			t.Fatal(err)
		}
	}
	if len(logged) != 2 || !strings.Contains(logged[0], "long long") || len(logged[0]) > 2*machine.MaxMessage {
		t.Fatalf("logged are %d lines of %d bytes", len(logged), len(strings.Join(logged, "")))
	}
	if !strings.Contains(logged[1], `"stack"=`) || !strings.Contains(logged[1], "machine_test.go") {
		t.Errorf("of a panic is logged %s", logged[1])
	}
}

func TestEventTeller_a_quick_passage_is_one_Event_and_asks_for_a_pass_to_tell_what_lasts(t *testing.T) {
	var told []events.Event
	e := &eventTeller{tell: func(n events.Event) { told = append(told, n) }, machine: "m", gathered: map[machine.Key]*events.Moves{}}
	moved := func(at time.Duration) machine.Outcome {
		return machine.Outcome{Moved: &machine.Transition{From: "A", Event: "E", To: "B", At: noon.Add(at)}}
	}
	at := func(after time.Duration, p Pass) time.Duration {
		p.Key, p.At = "k", noon.Add(after)
		return e.Tell(t.Context(), p)
	}
	if again := at(0, Pass{Outcome: moved(0)}); again != 10*time.Second || len(told) != 0 {
		t.Errorf("in the middle of it: again in %s, told %v", again, told)
	}
	if again := at(time.Second, Pass{Err: errors.New("away")}); again != 0 || len(told) != 0 {
		t.Errorf("a pass that could not be made: again in %s, told %v", again, told)
	}
	at(2*time.Second, Pass{Outcome: moved(2 * time.Second), Rests: true, Alarms: true, Words: Words{Line: "line"}})
	if len(told) != 1 || told[0].Text != "line [A --E--> B --E--> B]" || !told[0].Warns {
		t.Errorf("told %+v", told)
	}
	at(2*time.Second, Pass{Outcome: moved(2 * time.Second), Rests: true, Words: Words{Line: "line", Quiet: true}})
	if len(told) != 1 {
		t.Errorf("of what nobody waits for is told %+v", told[1:])
	}
	if again := at(3*time.Second, Pass{Rests: true}); again != 0 || len(told) != 1 || len(e.gathered) != 0 {
		t.Errorf("with nothing to tell: again in %s, told %v", again, told)
	}
	at(4*time.Second, Pass{Outcome: moved(0)})
	e.Forget("k")
	if at(time.Minute, Pass{Rests: true}); len(told) != 1 {
		t.Errorf("told of an instance that is gone: %v", told)
	}
}

func TestKeyOf_and_back(t *testing.T) {
	for key, object := range map[machine.Key]client.ObjectKey{"cluster": {Name: "cluster"}, "ns/one": {Namespace: "ns", Name: "one"}} {
		if KeyOf(object) != key || ObjectOf(key) != object {
			t.Errorf("%s is %s, and %s is %s", object, KeyOf(object), key, ObjectOf(key))
		}
	}
}
