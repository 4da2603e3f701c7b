package hosted

import (
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
	"github.com/capstan-capi/capstan/phases/records"
)

func written(t *testing.T, s Status) string {
	t.Helper()
	var text strings.Builder
	if err := s.Write(&text, now); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestStatus_tells_of_all_and_of_the_programme(t *testing.T) {
	m := world(map[string]any{"retention": "72h", "paused": "true"},
		one("a", "Eligible", inTurn, with(legacyMarks, guards.PausedAnnotation, "")),
		one("b", "Copying", "3 of 5 objects", locked(legacyMarks, guards.ToPrivate)),
		one("c", "Private", noRevert, with(privateMarks, guards.RevertAnnotation, "")),
		one("d", "Failed", "", with(legacyMarks, guards.FailedAnnotation, "scale-up-timeout")),
		one("e", "", "", nil),
	)
	m.objects[lockPath] = map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": map[string]any{"namespace": "ops", "name": "capstan-private-capi"},
		"spec": map[string]any{"holderIdentity": "clusters/b", "renewTime": "2026-02-28T23:55:00.000000Z"},
	}
	_, seen := look(t, m)
	status, err := seen.Status("")
	if err != nil {
		t.Fatal(err)
	}
	if want := map[machine.State]int{"Eligible": 1, "Copying": 1, "Private": 1, "Failed": 1, Untold: 1}; !maps.Equal(status.Counts, want) {
		t.Errorf("it counts %v", status.Counts)
	}
	text := written(t, status)
	for _, want := range []string{
		"since 2026-01-15 00:00:00Z (45d00h), by ConfigMap ops/capstan-private-capi", "yes, no move begins", "held for HostedCluster clusters/b since 2026-02-28 23:55:00Z (5m00s)",
		"kept for 72h", "5 in all: 1 Eligible, 1 Private, 1 Failed, 1 Copying, 1 Untold", "to private, moving", "revert asked", "failed: scale-up-timeout", inTurn, untold,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not tell %q:\n%s", want, text)
		}
	}
	if status.Code() != 3 {
		t.Errorf("the exit code is %d", status.Code())
	}
}

func TestStatus_has_an_exit_code_for_each_state(t *testing.T) {
	for name, c := range map[string]struct {
		of   map[string]any
		code int
	}{
		"it has moved":           {one("a", "Private", noRevert, privateMarks), 0},
		"it was moved back":      {one("a", "Failed", "", with(legacyMarks, guards.FailedAnnotation, "reverted")), 0},
		"it is to be moved back": {one("a", "Private", "", with(privateMarks, guards.RevertAnnotation, "")), 2},
		"it waits":               {one("a", "Eligible", inTurn, legacyMarks), 2},
		"nobody tells of it":     {one("a", "", "", nil), 2},
		"it has failed":          {one("a", "Failed", "", with(legacyMarks, guards.FailedAnnotation, "scale-up-timeout")), 3},
		"somebody else's lock":   {one("a", "Held", "", with(legacyMarks, guards.MigrationAnnotation, "")), 3},
	} {
		t.Run(name, func(t *testing.T) {
			_, seen := look(t, world(nil, c.of))
			if status, err := seen.Status("clusters/a"); err != nil || status.Code() != c.code {
				t.Errorf("the exit code is %d, %v", status.Code(), err)
			}
		})
	}
}

func TestStatus_tells_what_could_not_be_read(t *testing.T) {
	m := world(nil, one("a", "Eligible", inTurn, legacyMarks))
	m.forbidden = []string{"/apis/coordination.k8s.io/", "/apis/config.openshift.io/", programmePath + "-"}
	seen, err := serve(t, m).Closer(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	status, err := seen.Status("clusters/a")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"records were not read", "the right to get Lease ops/capstan-private-capi", "not told; kept for a week"} {
		if text := written(t, status); !strings.Contains(text, want) {
			t.Errorf("it does not tell %q:\n%s", want, text)
		}
	}
}

// storing is what the operator keeps of a HostedCluster.
func storing(t *testing.T, m *management, key machine.Key, record machine.Record) {
	t.Helper()
	c := fake.NewClientBuilder().Build()
	kept := records.NewConfigMaps[guards.Facts, phases.Works](records.Options{Live: c, Writer: c, Clock: clock.RealClock{}, Namespace: "ops", Name: "capstan-private-capi"})
	if _, err := kept.Save(t.Context(), key, phases.Snapshot{Record: record}); err != nil {
		t.Fatal(err)
	}
	stored, at := &corev1.ConfigMap{}, kept.ConfigMapOf(key)
	if err := c.Get(t.Context(), at, stored); err != nil {
		t.Fatal(err)
	}
	stored.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(stored)
	if err != nil {
		t.Fatal(err)
	}
	m.objects["/api/v1/namespaces/ops/configmaps/"+at.Name] = object
}

func TestExplain_tells_what_is_stored_of_the_same_object_in_the_same_state(t *testing.T) {
	since := now.Add(-time.Minute)
	record := machine.Record{
		UID: "uid-a", State: guards.Copying, Since: since, Reason: "3 of 5 objects", Deadline: &machine.Deadline{At: now.Add(time.Minute), On: guards.ProgressStalled, To: guards.Repausing},
		Failure:     &machine.Failure{Message: "a webhook is away", Since: since},
		Transitions: []machine.Transition{{At: since, From: guards.Snapshotting, Event: "SnapshotTaken", To: guards.Copying, Cause: "5 objects were counted"}},
	}
	for name, c := range map[string]struct {
		change func(*machine.Record)
		told   bool
	}{
		"its own":                 {func(*machine.Record) {}, true},
		"of another object":       {func(r *machine.Record) { r.UID = "uid-before" }, false},
		"older than what it says": {func(r *machine.Record) { r.State = guards.Snapshotting }, false},
	} {
		t.Run(name, func(t *testing.T) {
			stored := record
			c.change(&stored)
			m := world(nil, one("a", "Copying", "3 of 5 objects", locked(legacyMarks, guards.ToPrivate)))
			storing(t, m, "clusters/a", stored)
			seen, err := serve(t, m).Closer(t.Context(), "clusters/a")
			if err != nil {
				t.Fatal(err)
			}
			e, err := seen.Explain("clusters/a")
			var text strings.Builder
			if err == nil {
				err = e.Write(&text, now)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"Copying since 2026-02-28 23:59:00Z (1m00s)", "Repausing in 1m00s (ProgressStalled", "a webhook is away", "Snapshotting --SnapshotTaken--> Copying", "because 5 objects were counted"} {
				if strings.Contains(text.String(), want) != c.told {
					t.Errorf("%q:\n%s", want, text.String())
				}
			}
		})
	}
}

func TestLook_says_which_right_is_missing(t *testing.T) {
	m := world(nil)
	m.forbidden = []string{hostedPath}
	if _, err := serve(t, m).Look(t.Context()); err == nil || !strings.Contains(err.Error(), "ask for the right to list it") {
		t.Errorf("it says %v", err)
	}
}

func TestExplain_says_for_each_state_and_reason_what_to_do(t *testing.T) {
	for _, state := range table.States {
		_, seen := look(t, world(nil, one("a", string(state.Name), "", legacyMarks)))
		e, err := seen.Explain("clusters/a")
		if err != nil || e.Meaning == "" || e.Next == "" {
			t.Errorf("of %s it tells %+v, %v", state.Name, e, err)
		}
		if state.Rest && state.Name != guards.Failed && nextIn[state.Name] == "" {
			t.Errorf("in %s it says only: %s", state.Name, e.Next)
		}
	}
	for _, reason := range guards.Reasons() {
		if adviceOf[reason].means == "" || adviceOf[reason].look == "" {
			t.Errorf("nothing is said of reason %s", reason)
		}
	}
	if adviceFor("theirs").means == "" {
		t.Error("nothing is said of a reason of somebody else")
	}
}

func TestExplain_says_what_ends_a_pause_and_how_to_try_again(t *testing.T) {
	for name, c := range map[string]struct {
		data map[string]any
		of   map[string]any
		next string
	}{
		"paused by itself":   {nil, one("a", "Eligible", hasPaused, with(legacyMarks, guards.PausedAnnotation, "")), "capstan private-capi resume clusters/a"},
		"paused for all":     {map[string]any{"paused": "true"}, one("a", "Eligible", "", legacyMarks), "capstan private-capi resume"},
		"failed":             {nil, one("a", "Failed", "", with(legacyMarks, guards.FailedAnnotation, "scale-up-timeout")), "then capstan private-capi retry clusters/a"},
		"moved back":         {nil, one("a", "Failed", "", with(legacyMarks, guards.FailedAnnotation, "reverted")), "nothing; to have it moved to private types again"},
		"to be moved back":   {nil, one("a", "Private", "", with(privateMarks, guards.RevertAnnotation, "")), "revert --cancel clusters/a"},
		"being deleted":      {nil, deleted(one("a", "Eligible", "", legacyMarks)), "what is being deleted is not moved"},
		"on its way":         {nil, one("a", "Copying", "", locked(legacyMarks, guards.ToPrivate)), "it goes on by itself"},
		"nobody tells of it": {nil, one("a", "", "", legacyMarks), "--private-capi-image"},
	} {
		t.Run(name, func(t *testing.T) {
			_, seen := look(t, world(c.data, c.of))
			e, err := seen.Explain("clusters/a")
			if err != nil || !strings.Contains(e.Next, c.next) {
				t.Fatalf("it says %q, %v", e.Next, err)
			}
			var text strings.Builder
			if err := e.Write(&text, now); err != nil || !strings.Contains(text.String(), "\nNext: "+e.Next) || strings.Count(text.String(), "\n") > 30 {
				t.Errorf("%v:\n%s", err, text.String())
			}
		})
	}
}

func TestStatus_and_explain_name_the_namespace_of_the_control_plane(t *testing.T) {
	_, seen := look(t, world(nil, one("a.b", "Eligible", inTurn, legacyMarks)))
	status, err := seen.Status("clusters/a.b")
	if err != nil || !strings.Contains(written(t, status), "Control plane:  namespace clusters-a-b\n") || status.HostedClusters[0].ControlPlane != "clusters-a-b" {
		t.Errorf("%v:\n%s", err, written(t, status))
	}
	e, err := seen.Explain("clusters/a.b")
	var text strings.Builder
	if err != nil || e.Write(&text, now) != nil || !strings.Contains(text.String(), "namespace clusters-a-b\n") {
		t.Errorf("%v:\n%s", err, text.String())
	}
}
