package act

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
	"github.com/capstan-capi/capstan/phases/engine/report"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

func TestNew_wants_to_know_who_it_is(t *testing.T) {
	for _, cfg := range []Config{
		{},
		{Namespace: "n", Owner: "o", FieldManager: "f", InventoryPrefix: "i"},
		{REST: &rest.Config{}, Owner: "o", FieldManager: "f", InventoryPrefix: "i"},
		{REST: &rest.Config{}, Namespace: "n", FieldManager: "f", InventoryPrefix: "i"},
		{REST: &rest.Config{}, Namespace: "n", Owner: "o", InventoryPrefix: "i"},
		{REST: &rest.Config{}, Namespace: "n", Owner: "o", FieldManager: "f"},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%+v was accepted", cfg)
		}
	}
}

func TestRun_ends_with_its_context_and_leaves_nothing_running(t *testing.T) {
	defer goleak.VerifyNone(t)
	asked := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- r.URL.Path:
		default:
		}
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	e, err := New(Config{REST: &rest.Config{Host: server.URL, Transport: &http.Transport{DisableKeepAlives: true}}, Namespace: "n", Owner: enginetest.Owner, FieldManager: "capstan", InventoryPrefix: "capstan-inventory-"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- e.Run(ctx) }()
	rev := enginetest.Revision(1, enginetest.Made(t, "v1 Service")...)
	e.Watch(rev)
	<-asked
	// The answers to the watches are there already, or not.
	refused := func(err error) bool { return err == nil || strings.Contains(err.Error(), "watching ") }
	got, err := e.Reconcile(ctx, rev, ReconcileOptions{})
	if why := got.Blocked(); !refused(err) || !got.Unknown() || got.Complete() || !strings.Contains(why, "not seen yet") && !strings.Contains(why, "watching ") {
		t.Errorf("%v, %v", got, err)
	}
	pruned, err := e.Teardown(ctx, rev, TeardownOptions{})
	if !refused(err) || pruned.Complete() || pruned.Blocked() == "" {
		t.Errorf("%v, %v", pruned, err)
	}
	if err := e.Forget(ctx, rev, &report.TeardownReport{}); err == nil {
		t.Error("revisions were forgotten without being seen")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestLook_decides_again_only_when_the_object_changed(t *testing.T) {
	e := seeing(t)
	key := decide.KeyOf(objects.Settings())
	w := e.watchOf(key.GVK(), see.Resource{})
	w.Synced = true
	e.watches = map[place]*see.Watch{{kind: key.GVK()}: w}
	rev := enginetest.Revision(enginetest.Number, objects.Parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: "n"}, data: {a: "1"}}`))
	if got := e.Look(rev); got.Complete() || !strings.Contains(got.Blocked(), "is not watched") {
		t.Errorf("before it was handed over: %s", got)
	}
	e.Watch(rev)
	if got := e.Look(rev); got.Complete() || !strings.Contains(got.Blocked(), "does not exist") {
		t.Errorf("absent: %s", got)
	}
	_ = w.Add(see.ObjectFrom(enginetest.Applied()))
	first := e.Look(rev)
	if !first.Complete() {
		t.Errorf("applied: %s", first)
	}
	if e.Look(rev) != first {
		t.Error("it looked again although nothing had changed")
	}
	planned, _ := e.plan(rev)
	before := planned.targets[0].decision
	_ = w.Replace([]any{see.ObjectFrom(enginetest.Applied())}, "20")
	if e.Look(rev); planned.targets[0].decision != before {
		t.Error("the same object was decided on twice")
	}
	changed := enginetest.Applied()
	changed.Object["data"] = map[string]any{"a": "2"}
	enginetest.WithEntry(changed, testUs.FieldManager, "Apply", objects.NoData)
	enginetest.WithEntry(changed, "kubectl-edit", "Update", objects.OnlyData)
	changed.SetResourceVersion("11")
	_ = w.Update(see.ObjectFrom(changed))
	if got := e.Look(rev); got.Complete() || !strings.Contains(got.Blocked(), "kubectl-edit") || got.Progress() != first.Progress() {
		t.Errorf("changed: %s %s", got, got.Progress())
	}
}
