package machines

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

func set(mark, value string) func(*v1alpha1.OpenShiftControlPlane) {
	return func(p *v1alpha1.OpenShiftControlPlane) { metav1.SetMetaDataAnnotation(&p.ObjectMeta, mark, value) }
}

func TestBootstrap_is_made_only_where_neither_marks_nor_status_forbid_it(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*v1alpha1.OpenShiftControlPlane)
		made   bool
	}{
		"nothing was made":     {func(*v1alpha1.OpenShiftControlPlane) {}, true},
		"it is intended":       {set(v1alpha1.BootstrapMark, v1alpha1.BootstrapIntended), true},
		"it was made":          {set(v1alpha1.BootstrapMark, "u0"), false},
		"the API has answered": {marked(v1alpha1.InitializedMark), false},
		"it is finished":       {marked(v1alpha1.BootstrapFinishedMark), false},
		"nothing is frozen":    {func(p *v1alpha1.OpenShiftControlPlane) { p.Annotations = map[string]string{} }, false},
		"only the status says that it was made": {func(p *v1alpha1.OpenShiftControlPlane) {
			p.Status.Bootstrap = &v1alpha1.BootstrapStatus{MachineRef: &v1alpha1.MachineReference{Name: "a-bootstrap", UID: "u0"}}
		}, false},
		"only the status says that the API has answered": {func(p *v1alpha1.OpenShiftControlPlane) {
			p.Status.Conditions = []metav1.Condition{{Type: "Initialized", Status: metav1.ConditionTrue}}
		}, false},
	} {
		w := newWorld(t, append(frame(), asked(1, row.change))...)
		w.must((*Seen).CreateMachines)
		if made := slices.Contains(w.all(), "Machine a-bootstrap"); made != row.made {
			t.Errorf("%s: made is %t", name, made)
		}
	}
}

func TestBootstrap_is_not_made_by_a_process_that_others_have_overtaken(t *testing.T) {
	for name, mark := range map[string][2]string{
		"made and lost": {v1alpha1.BootstrapMark, "u0"},
		"initialized":   {v1alpha1.InitializedMark, "true"},
		"finished":      {v1alpha1.BootstrapFinishedMark, "true"},
	} {
		// It has looked before the other one marks, and again while it was making config and infrastructure machine.
		w := newWorld(t, append(frame(), asked(1))...)
		before, _ := w.see()
		change(w, w.plane(), set(mark[0], mark[1]))
		_, _ = before.CreateMachines(t.Context())
		if slices.Contains(w.all(), "Machine a-bootstrap") {
			t.Errorf("%s before: it was made", name)
		}
		w = newWorld(t, append(frame(), asked(1, set(v1alpha1.BootstrapMark, v1alpha1.BootstrapIntended)))...)
		s, _ := w.see()
		s.templates[s.wantedBootstrap().template] = template("masters", "large")
		d := &doing{}
		may := func(ctx context.Context) (bool, error) {
			change(w, w.plane(), set(mark[0], mark[1]))
			return s.mayCreateBootstrap(ctx)
		}
		if uid, err := s.make(t.Context(), s.wantedBootstrap(), nil, may, d); uid != "" || err != nil {
			t.Errorf("%s meanwhile: it was made (%s, %v)", name, uid, err)
		}
	}
}

func TestBootstrap_that_was_made_and_not_noted_is_noted(t *testing.T) {
	w := newWorld(t, append(frame(), asked(1))...)
	w.must((*Seen).CreateMachines)
	change(w, w.plane(), set(v1alpha1.BootstrapMark, v1alpha1.BootstrapIntended))
	w.must((*Seen).CreateMachines)
	if got, want := w.plane().Annotations[v1alpha1.BootstrapMark], string(w.machine("a-bootstrap").UID); got != want {
		t.Errorf("the mark is %q, want %q", got, want)
	}
}

// ended is a payload that was valid until an hour ago.
func ended(facts *guards.Facts) {
	facts.Payload = guards.Payload{Roles: guards.Tally{Known: true, Done: 3, Wanted: 3}, NotAfter: noon.Add(-time.Hour), Ending: true}
}

func TestBootstrap_is_not_made_with_a_payload_that_has_ended(t *testing.T) {
	w := newWorld(t, append(frame(), asked(1, set(v1alpha1.BootstrapMark, v1alpha1.BootstrapIntended)))...)
	s, facts := w.see()
	ended(facts)
	if _, err := s.CreateMachines(t.Context()); err == nil || machine.IsTerminal(err) || len(w.created) != 0 {
		t.Errorf("it made %v (%v)", w.created, err)
	}
	if truth(guards.PayloadStands, facts) != machine.No {
		t.Error("no Machine came of the intention, and the payload is not made anew")
	}

	w = newWorld(t, append(frame(), asked(1))...)
	w.must((*Seen).CreateMachines)
	w.clusterAPI()
	if err := w.api.Delete(t.Context(), w.machine("a-bootstrap")); err != nil {
		t.Fatal(err)
	}
	w.clusterAPI()
	change(w, w.plane(), set(v1alpha1.BootstrapMark, v1alpha1.BootstrapIntended))
	before := len(w.created["Machine a-bootstrap"])
	s, facts = w.see()
	ended(facts)
	if _, err := s.CreateMachines(t.Context()); !machine.IsTerminal(err) || !strings.Contains(err.Error(), v1alpha1.FromScratch) || len(w.created["Machine a-bootstrap"]) != before {
		t.Errorf("a master was made with it: it made %v (%v)", w.created, err)
	}
}

func TestBootstrap_that_has_moved_is_the_one_of_its_attempt(t *testing.T) {
	w := newWorld(t, append(frame(), asked(1))...)
	w.must((*Seen).CreateMachines)
	restored := w.machine("a-bootstrap")
	if err := w.api.Delete(t.Context(), restored); err != nil {
		t.Fatal(err)
	}
	restored.UID, restored.ResourceVersion = "restored", ""
	if err := w.api.Create(t.Context(), restored); err != nil {
		t.Fatal(err)
	}
	if _, facts := w.see(); truth(guards.BootstrapIsKept, facts) != machine.Yes {
		t.Errorf("it is lost: %+v", facts.Bootstrap)
	}
	change(w, w.machine("a-bootstrap"), func(m *clusterv1.Machine) { m.Annotations[v1alpha1.AttemptAnnotation] = "another" })
	if _, facts := w.see(); truth(guards.BootstrapIsKept, facts) != machine.No {
		t.Error("one of another attempt is taken for it")
	}
}

// finished is a cluster that does without its bootstrap Machine, which is there.
func finished(t *testing.T, how ...func(*v1alpha1.OpenShiftControlPlane)) *world {
	t.Helper()
	w := newWorld(t, append(frame(), asked(1, how...), secret("a-ignition-bootstrap"), secret("a-ignition-master"))...)
	w.must((*Seen).CreateMachines)
	w.clusterAPI()
	w.must((*Seen).MarkInitialized, (*Seen).MarkFinished)
	return w
}

var left = append(of("a-0"), "Secret a-ignition-master")

func TestRemoveBootstrap_leaves_nothing_of_it(t *testing.T) {
	w := finished(t)
	for range 3 {
		w.must((*Seen).RemoveBootstrap)
		w.clusterAPI()
	}
	if got := w.all(); !reflect.DeepEqual(got, left) {
		t.Errorf("there are %v, want %v", got, left)
	}
	s, facts := w.see()
	if !facts.Bootstrap.Removal.IsDone() {
		t.Errorf("it is told that there is %+v", facts.Bootstrap.Removal)
	}
	w.writes = nil
	if _, err := s.RemoveBootstrap(t.Context()); err != nil || w.writes != nil {
		t.Errorf("where nothing is left there was %v (%v)", w.writes, err)
	}
}

func TestMarks_that_only_the_status_has_kept_are_written_back_though_nothing_is_left_of_the_bootstrap(t *testing.T) {
	w := finished(t)
	for range 3 {
		w.must((*Seen).RemoveBootstrap)
		w.clusterAPI()
	}
	_, facts := w.see()
	marks := facts.Reached()
	change(w, w.plane(), func(p *v1alpha1.OpenShiftControlPlane) { p.Annotations = nil })
	for _, work := range []work{(*Seen).KeepInstalled, (*Seen).KeepInstalled} {
		s, facts := w.see()
		facts.Noted = marks
		if _, err := work(s, t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := phases.MarksOf(w.plane()); got != marks || !got.Finished {
		t.Errorf("the marks are %+v, and were %+v", got, marks)
	}
}

func TestRemoveBootstrap_holds_it_while_somebody_wants_it(t *testing.T) {
	hold := func(p *v1alpha1.OpenShiftControlPlane) {
		p.Spec.Hooks = []v1alpha1.Hook{{Phase: v1alpha1.PreBootstrapRemoval, ConditionType: "Audited"}}
	}
	retain := func(p *v1alpha1.OpenShiftControlPlane) { p.Spec.BootstrapMachine.DeletePolicy = v1alpha1.Retain }
	unfinished := func(p *v1alpha1.OpenShiftControlPlane) { delete(p.Annotations, v1alpha1.BootstrapFinishedMark) }
	for name, how := range map[string]func(*v1alpha1.OpenShiftControlPlane){"a hook": hold, "Retain": retain, "it is not finished": unfinished} {
		w := finished(t)
		change(w, w.plane(), how)
		for _, work := range []work{(*Seen).RemoveBootstrap, (*Seen).KeepInstalled, (*Seen).CreateMachines} {
			w.must(work)
			w.clusterAPI()
		}
		if got := w.all(); len(got) != 8 {
			t.Errorf("%s: there are %v", name, got)
		}
	}
}

func TestRemoveBootstrap_that_is_refused_fails_in_its_own_state_and_is_told_in_those_that_follow(t *testing.T) {
	w := finished(t)
	w.refuse = func(verb, what string) error {
		if verb == "delete" {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "machines"}, what, errors.New("a policy keeps it"))
		}
		return nil
	}
	in(w, guards.RemovingBootstrap)
	if _, err := w.do((*Seen).RemoveBootstrap); err == nil {
		t.Error("the removal is refused, and that is no error of its state")
	}
	for state, work := range map[machine.State]work{
		guards.Settling: (*Seen).RemoveBootstrap, guards.Installed: (*Seen).KeepInstalled, guards.Degraded: (*Seen).KeepInstalled,
		guards.Scaling: (*Seen).ScaleMachines, guards.Remediating: (*Seen).ReplaceMachine,
	} {
		in(w, state)
		if result, err := w.do(work); err != nil || result.LookAgain != whileLeft {
			t.Errorf("%s: %+v, %v", state, result, err)
		}
		if _, facts := w.see(); !strings.Contains(guards.BootstrapIsGone.Answer(*facts).Reason, "a policy keeps it") {
			t.Errorf("%s: it is told %q", state, guards.BootstrapIsGone.Answer(*facts).Reason)
		}
	}
	w.refuse = nil
	w.must((*Seen).KeepInstalled)
	if _, facts := w.see(); facts.Bootstrap.Problem != "" {
		t.Errorf("it goes, and it is told %q", facts.Bootstrap.Problem)
	}
}

func TestForget_lets_go_of_what_a_removal_has_met(t *testing.T) {
	w := finished(t)
	w.refuse = func(verb, _ string) error {
		if verb == "delete" {
			return errors.New("refused")
		}
		return nil
	}
	w.must((*Seen).KeepInstalled)
	w.maker.Forget(planeKey)
	if _, facts := w.see(); facts.Bootstrap.Problem != "" {
		t.Errorf("it is told %q", facts.Bootstrap.Problem)
	}
}

func TestSee_knows_nothing_of_a_bootstrap_Machine_that_cannot_be_read_and_all_of_the_rest(t *testing.T) {
	w := newWorld(t, append(frame(), asked(1))...)
	w.must((*Seen).CreateMachines)
	if err := w.api.Delete(t.Context(), w.machine("a-bootstrap")); err != nil {
		t.Fatal(err)
	}
	w.refuse = func(verb, what string) error {
		if verb == "read" && what == "Machine a-bootstrap" {
			return errors.New("the conversion webhook does not answer")
		}
		return nil
	}
	_, facts := w.see()
	if facts.Bootstrap.Known || facts.Attempt.Known || !facts.Counts.Known || facts.Counts.Replicas != 1 {
		t.Errorf("it was seen: %+v", facts)
	}
	kept := guards.BootstrapIsKept.Answer(*facts)
	if kept.Truth != machine.Unknown || !strings.Contains(kept.Reason, "conversion webhook") {
		t.Errorf("whether it is kept: %+v", kept)
	}
	w.refuse = nil
	if _, facts := w.see(); truth(guards.BootstrapIsKept, facts) != machine.No {
		t.Error("it is gone, and that is not told")
	}
}

func TestRemoveBootstrap_asks_the_marks_as_they_are_now(t *testing.T) {
	w := finished(t)
	s, facts := w.see()
	change(w, w.plane(), func(p *v1alpha1.OpenShiftControlPlane) { delete(p.Annotations, v1alpha1.BootstrapFinishedMark) })
	facts.Marks.Finished, facts.Noted.Finished = false, true // a status says so, and a mark that is lost is written first
	if _, err := s.RemoveBootstrap(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, is := w.plane().Annotations[v1alpha1.BootstrapFinishedMark]; !is || w.machine("a-bootstrap").DeletionTimestamp.IsZero() {
		t.Error("it goes, and no mark says that it may")
	}
}

func TestRemoveBootstrap_takes_what_was_half_made(t *testing.T) {
	for name, halves := range map[string][]client.Object{
		"config": {&v1alpha1.OpenShiftConfig{}}, "config and infrastructure machine": {&v1alpha1.OpenShiftConfig{}, template("a-bootstrap", "large")},
	} {
		w := newWorld(t, append(frame(), asked(1, marked(v1alpha1.BootstrapFinishedMark)), secret("a-ignition-bootstrap"))...)
		s, _ := w.see()
		for _, half := range halves {
			if half.GetName() != "" {
				half.GetObjectKind().SetGroupVersionKind(infraKind)
			}
			meta := s.objectMeta(s.wantedBootstrap(), s.owner(false))
			half.SetNamespace(meta.Namespace)
			half.SetName(meta.Name)
			half.SetLabels(meta.Labels)
			half.SetOwnerReferences(meta.OwnerReferences)
			if err := w.client.Create(t.Context(), half); err != nil {
				t.Fatal(err)
			}
		}
		w.writes = nil
		for range 4 {
			w.must((*Seen).KeepInstalled)
		}
		if got := w.all(); len(got) != 0 {
			t.Errorf("%s: there are %v", name, got)
		}
		if last := w.writes[len(w.writes)-1]; last != "delete Secret a-ignition-bootstrap" {
			t.Errorf("%s: it went in the order %v", name, w.writes)
		}
	}
}

func TestMarks_are_there_before_what_they_allow_is_asked_for(t *testing.T) {
	w := newWorld(t, append(frame(), asked(1))...)
	w.must((*Seen).MarkInitialized)
	if !phases.MarksOf(w.plane()).Initialized {
		t.Error("initialized is not marked")
	}
	w.must((*Seen).MarkFinished)
	if marks := phases.MarksOf(w.plane()); marks != (guards.Marks{Inputs: "d", Initialized: true, Finished: true}) {
		t.Errorf("the marks are %+v", marks)
	}
	w.writes = nil
	w.must((*Seen).MarkInitialized, (*Seen).MarkFinished)
	if w.writes != nil {
		t.Errorf("what was marked was marked again: %v", w.writes)
	}
}

func TestWorks_without_an_OpenShiftControlPlane_do_nothing(t *testing.T) {
	w := newWorld(t, append(frame(), &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a-0"}})...)
	for _, work := range []work{
		(*Seen).CreateMachines, (*Seen).RemoveBootstrap, (*Seen).HandOver, (*Seen).KeepInstalled, (*Seen).ScaleMachines, (*Seen).ReplaceMachine,
		(*Seen).ClearAttempt, (*Seen).DeleteCluster, (*Seen).MarkInitialized, (*Seen).MarkFinished,
	} {
		w.must(work)
	}
	if w.writes != nil {
		t.Errorf("they wrote %v", w.writes)
	}
}

func TestRemoveBootstrap_asks_for_a_deletion_once_while_the_cache_does_not_show_it(t *testing.T) {
	w := newWorld(t, append(frame(), asked(1))...)
	w.must((*Seen).CreateMachines)
	w.clusterAPI()
	w.must((*Seen).CreateMachines, (*Seen).MarkInitialized, (*Seen).MarkFinished)
	w.writes = nil
	stale, _ := w.see()
	for range 2 {
		if _, err := stale.RemoveBootstrap(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	for _, write := range w.writes {
		if write == "delete Machine a-bootstrap" {
			count++
		}
	}
	if count != 1 {
		t.Errorf("it asked %d times: %v", count, w.writes)
	}
}
