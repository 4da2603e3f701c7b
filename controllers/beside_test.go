package controllers

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	configv1 "github.com/openshift/api/config/v1"
	configv1ac "github.com/openshift/client-go/config/applyconfigurations/config/v1"
	configfake "github.com/openshift/client-go/config/clientset/versioned/fake"
	configclient "github.com/openshift/client-go/config/clientset/versioned/typed/config/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	testclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/clusterapi/simulated"
	"github.com/capstan-capi/capstan/phases/events"
	"github.com/capstan-capi/capstan/phases/recorder"
	"github.com/capstan-capi/capstan/phases/status"
)

// secondMachine is a second singleton: it moves once, to rest.
var secondMachine = machine.Table[bool, int]{
	Name: "tides", Start: "Ebb", Parts: []string{"TidesController"},
	States: []machine.StateRow[int]{{Name: "Ebb", Rest: true, Part: "TidesController"}, {Name: "Flood", Rest: true, Part: "TidesController"}},
	Moves: []machine.Move[bool, int]{{On: "MoonRose", From: []machine.State{"Ebb"}, To: "Flood", If: machine.Guard[bool]{
		Name: "MoonIsUp", Doc: "The moon is up.", Ask: func(up bool) machine.Answer { return machine.Say(up, "the moon is up") },
	}}},
}

func tidesIn(store machine.Store[bool, int]) house.Machine[bool, int] {
	return house.Machine[bool, int]{
		Table: secondMachine, Store: store, Trigger: &house.Trigger{First: []machine.Key{"cluster"}},
		Observe: func(context.Context, machine.Key) (bool, int, error) { return true, 0, nil },
		Words: func(_ machine.Key, s machine.Snapshot[bool, int]) house.Words {
			return house.Words{Line: status.Line(s.Record), About: corev1.ObjectReference{Kind: "Moon", Name: "moon"}}
		},
	}
}

func TestAdd_a_second_machine_can_be_added_to_the_same_manager(t *testing.T) {
	clock := testclock.NewFakeClock(time.Now())
	o := options.Options{
		Release: "4.22.6", OperatorNamespace: "ops", CAPINamespace: "capi", CacheDir: t.TempDir(), Concurrency: 1,
		WarmUp: func(func(context.Context) error) {}, REST: &rest.Config{Host: "http://127.0.0.1:1"},
	}
	kinds, again := Kinds(o), true // the test may run more than once in a process
	mgr, err := ctrl.NewManager(o.REST, ctrl.Options{
		Scheme: kinds.Scheme(), MapperProvider: kinds.Mapper, Cache: kinds.Cache(nil), Logger: logr.Discard(),
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0", Controller: ctrlconfig.Controller{SkipNameValidation: &again},
	})
	if err != nil {
		t.Fatal(err)
	}
	if o.House, err = house.New(mgr, "ops", clock, clock); err != nil {
		t.Fatal(err)
	}
	if err := Add(mgr, o); err != nil {
		t.Fatal(err)
	}
	second := tidesIn(nil)
	if err := house.Add(mgr, o.House, second); err != nil {
		t.Errorf("adding it: %v", err)
	}
	second.Table.Name, second.Watches = "blind", []house.Watch{{Kind: &corev1.Node{}}}
	if err := house.Add(mgr, o.House, second); err == nil || !strings.Contains(err.Error(), "it watches what is not among its kinds") {
		t.Errorf("it watches a kind that nobody has named: %v", err)
	}
	if _, err := house.New(mgr, "ops", clock, clock); err != nil {
		t.Errorf("metrics are registered twice: %v", err)
	}
}

// announced collects the Events that are written, by the controller that reports them.
func announced(t *testing.T) (*rest.Config, *http.Client, <-chan eventsv1.Event) {
	written := make(chan eventsv1.Event, 64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var event eventsv1.Event
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
			t.Error(err)
		}
		written <- event
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(event); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, server.Client(), written
}

func TestTwo_machines_share_a_ClusterOperator_and_a_recorder_and_mix_nothing(t *testing.T) {
	operators := apart{configfake.NewClientset().ConfigV1().ClusterOperators()}
	kept := fake.NewClientBuilder().WithScheme(Kinds(options.Options{}).Scheme()).Build()
	clock := testclock.NewFakeClock(time.Now())
	config, connection, written := announced(t)
	writer, err := events.New(config, connection, clock, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	key := client.ObjectKey{Namespace: "ops", Name: recorder.ConfigMap}
	h := &house.House{Events: writer, Recorder: recorder.New(kept, kept, key, clock, logr.Discard()), Clock: clock, Queue: clock}

	world := simulated.New()
	if _, err := world.Do("cluster", simulated.Args{"release": "one"}); err != nil {
		t.Fatal(err)
	}
	p := world.Start()
	first := house.NewReconciler(h, house.Machine[guards.Facts, *phases.Pass]{
		Table: table.Table, Observe: p.Observe,
		Store: p.Store(table.Table, phases.Words{Conditions: table.Conditions, Line: table.Line}, operators, writer.Tell),
		Words: func(_ machine.Key, s phases.Snapshot) house.Words {
			return house.Words{Line: table.Line(s), Subject: p.WorkedOn(), About: p.About()}
		},
	})
	second := house.NewReconciler(h, tidesIn(status.New(status.Config[bool, int]{
		Table: secondMachine, Operator: phases.ClusterOperatorName, Tell: status.Plain(secondMachine, corev1.ObjectReference{Kind: "Moon", Name: "moon"}),
		Client: kept, Operators: operators, Event: writer.Tell, Now: h.Now, Log: logr.Discard(),
	})))
	for range 20 {
		for _, pass := range []func(context.Context, ctrl.Request) (ctrl.Result, error){first.Reconcile, second.Reconcile} {
			if _, err := pass(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Name: "cluster"}}); err != nil {
				t.Fatal(err)
			}
		}
		clock.Step(time.Second)
		world.Advance(time.Second)
	}

	operator, err := operators.Get(t.Context(), phases.ClusterOperatorName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	entries := status.Extension(operator.Status.Extension.Raw)
	if got, want := slices.Sorted(maps.Keys(entries)), []string{"clusterapi", "clusterapiDetail", "tides", "tidesDetail"}; !slices.Equal(got, want) {
		t.Errorf("the records are %q", got)
	}
	for name, want := range map[string]string{"clusterapi": `"state":"Installed"`, "tides": `"state":"Flood"`} {
		if !strings.Contains(string(entries[name]), want) {
			t.Errorf("the record of %s is %s", name, entries[name])
		}
	}
	for _, kind := range []configv1.ClusterStatusConditionType{"InstallerControllerAvailable", "InstallerControllerDegraded", "TidesControllerProgressing", "TidesControllerDegraded"} {
		if !slices.ContainsFunc(operator.Status.Conditions, func(c configv1.ClusterOperatorStatusCondition) bool { return c.Type == kind }) {
			t.Errorf("there is no condition %s", kind)
		}
	}
	expectEvents(t, writer, written)
	expectEntries(t, h.Recorder, kept, key)
}

// apart keeps the entries of status.extension apart, as API servers do: the CRD leaves their fields unknown, so that each
// has managers of its own. The fake client takes them for one value.
type apart struct {
	configclient.ClusterOperatorInterface
}

// ApplyStatus adds the entries of others to what is applied.
func (c apart) ApplyStatus(ctx context.Context, apply *configv1ac.ClusterOperatorApplyConfiguration, opts metav1.ApplyOptions) (*configv1.ClusterOperator, error) {
	there, err := c.Get(ctx, *apply.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	entries := map[string]json.RawMessage{}
	maps.Copy(entries, status.Extension(there.Status.Extension.Raw))
	maps.Copy(entries, status.Extension(apply.Status.Extension.Raw))
	if apply.Status.Extension.Raw, err = json.Marshal(entries); err != nil {
		return nil, err
	}
	return c.ClusterOperatorInterface.ApplyStatus(ctx, apply, opts)
}

// expectEvents has what waits written, and finds Events of both machines about their own objects.
func expectEvents(t *testing.T, writer *events.Writer, written <-chan eventsv1.Event) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- writer.Run(ctx) }()
	missing := map[string]string{"capstan-clusterapi": "ClusterAPI", "capstan-tides": "Moon"}
	for len(missing) > 0 {
		event := <-written
		if about, waited := missing[event.ReportingController]; waited && event.Regarding.Kind != about {
			t.Errorf("%s reports about a %s", event.ReportingController, event.Regarding.Kind)
		}
		delete(missing, event.ReportingController)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// expectEntries has what was recorded written, and finds the transitions of both machines.
func expectEntries(t *testing.T, log *recorder.Recorder, kept client.Client, key client.ObjectKey) {
	t.Helper()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := log.Run(ended); err != nil {
		t.Fatal(err)
	}
	stored := &corev1.ConfigMap{}
	if err := kept.Get(t.Context(), key, stored); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(stored)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := recorder.Read([]byte(strings.Replace(string(text), "{", `{"kind":"ConfigMap","apiVersion":"v1",`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	var moved []string
	for _, e := range entries {
		if e.Kind == recorder.Transition {
			moved = append(moved, e.Machine+"/"+string(e.Key)+" to "+string(e.Decision.To))
		}
	}
	for _, want := range []string{"clusterapi/cluster to Installed", "tides/cluster to Flood"} {
		if !slices.Contains(moved, want) {
			t.Errorf("recorded are %q", moved)
		}
	}
}
