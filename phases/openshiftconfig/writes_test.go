package openshiftconfig

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/machine/machinetest"
	"github.com/capstan-capi/capstan/phases/phasestest"
)

func TestPublishData_writes_all_that_it_names_and_nothing_else(t *testing.T) {
	var counter phasestest.Counter
	var l machinetest.Ledger[Works]
	w := newWorld(t, same, made(v1alpha1.MasterRole, pointer))
	w.phases.Client = counter.Watch(w.client.(client.WithWatch))
	publish := l.Note(PublishData, counter.Written)
	does := func(want string) {
		t.Helper()
		if result, err := publish.Run(t.Context(), w.look()); err != nil || result.Did != want {
			t.Fatalf("it did %q (%v), want %q", result.Did, err, want)
		}
	}
	does("created the data Secret")
	altered := w.stored()
	altered.Data = nil
	if err := w.client.Update(t.Context(), altered); err != nil {
		t.Fatal(err)
	}
	does("put the data Secret right")
	other := w.stored()
	other.Type, other.ResourceVersion = corev1.SecretTypeOpaque, ""
	if err := w.client.Delete(t.Context(), w.stored()); err != nil {
		t.Fatal(err)
	}
	if err := w.client.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	does("deleted a data Secret of another type")
	does("created the data Secret")
	l.Whole(t, "../../docs/state-diagrams/openshiftconfig.md", PublishData)
}
