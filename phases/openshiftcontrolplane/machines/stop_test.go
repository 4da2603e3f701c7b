package machines

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

// stage is a work that is done until the facts say that it is enough.
type stage struct {
	work work
	till func(*guards.Facts) bool
	// in is the state that it is the work of, empty where that does not matter.
	in machine.State
}

func always(*guards.Facts) bool { return true }

var (
	installing = []stage{
		{work: (*Seen).CreateMachines, till: func(f *guards.Facts) bool { return f.Provisioned.IsDone() && f.Bootstrap.Provisioned }},
		{work: (*Seen).MarkInitialized, till: always},
		{work: (*Seen).CreateMachines, till: always},
		{work: (*Seen).MarkFinished, till: always},
		{work: (*Seen).RemoveBootstrap, till: func(f *guards.Facts) bool { return f.Bootstrap.Removal.IsDone() }, in: guards.RemovingBootstrap},
		{work: (*Seen).HandOver, till: always},
		{work: (*Seen).KeepInstalled, till: always},
	}
	clearing = []stage{
		{work: (*Seen).CreateMachines, till: func(f *guards.Facts) bool { return f.Provisioned.IsDone() }},
		{work: (*Seen).giveUp, till: always},
		{work: (*Seen).ClearAttempt, till: func(f *guards.Facts) bool { return f.Attempt.IsDone() && f.Marks == guards.Marks{} }},
	}
	deleting = []stage{
		{work: (*Seen).CreateMachines, till: func(f *guards.Facts) bool { return f.Provisioned.IsDone() }},
		{work: (*Seen).ask, till: always},
		{work: (*Seen).DeleteCluster, till: func(f *guards.Facts) bool { return !f.Seen }},
	}
)

// ask is that somebody deletes the OpenShiftControlPlane.
func (s *Seen) ask(ctx context.Context) (machine.Result, error) {
	if s.look.Plane == nil || !s.look.Plane.DeletionTimestamp.IsZero() {
		return machine.Result{}, nil
	}
	return machine.Result{}, s.maker.client.Delete(ctx, s.look.Plane)
}

// giveUp is that somebody asks for another try from scratch.
func (s *Seen) giveUp(ctx context.Context) (machine.Result, error) {
	plane := s.look.Plane.DeepCopy()
	metav1.SetMetaDataAnnotation(&plane.ObjectMeta, v1alpha1.RetryAnnotation, "from-scratch-1")
	return machine.Result{}, s.maker.client.Patch(ctx, plane, client.MergeFrom(s.look.Plane))
}

// run does stages with a process that is stopped after some writes, and then with one that is not. Cluster API goes on whoever is
// stopped.
func run(w *world, stages []stage, writes int, lost bool) (stopped bool) {
	w.t.Helper()
	w.left, w.lost = writes, lost
	for _, stage := range stages {
		if stage.in != "" {
			in(w, stage.in)
		}
		for passes := 0; ; passes++ {
			if passes > 20 {
				w.t.Fatalf("nothing comes of it: %v", w.all())
			}
			_, err := w.do(stage.work)
			if errors.Is(err, errStopped) {
				w.left, w.lost, stopped = -1, false, true
				continue
			}
			if err != nil {
				w.t.Fatal(err)
			}
			w.clusterAPI()
			if _, facts := w.see(); stage.till(facts) {
				break
			}
		}
	}
	return stopped
}

// whole says what is wrong with what there is: every infrastructure machine has a Machine, each Machine an owner.
func (w *world) half() (wrong []string) {
	for _, name := range []string{"a-0", "a-1", "a-bootstrap"} {
		infra := w.parts(w.blank(name))[0]
		if m := w.blank(name); w.get(infra, name) && !w.get(m, name) {
			wrong = append(wrong, "no Machine "+name)
		} else if m.UID != "" && len(m.OwnerReferences) == 0 {
			wrong = append(wrong, "no owner of "+name)
		}
	}
	return wrong
}

// objects are what there is at first.
func objects() []client.Object {
	return append(frame("z1", "z2"), asked(2), secret("a-ignition-bootstrap"), secret("c-ca"))
}

func TestWorks_that_are_stopped_at_any_write_come_to_the_same(t *testing.T) {
	for name, stages := range map[string][]stage{"install": installing, "clear": clearing, "delete": deleting} {
		undisturbed := newWorld(t, objects()...)
		run(undisturbed, stages, -1, false)
		want := undisturbed.all()
		for _, lost := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, its answer lost %t", name, lost), func(t *testing.T) {
				for writes := range len(undisturbed.writes) {
					w := newWorld(t, objects()...)
					if !run(w, stages, writes, lost) {
						t.Fatalf("it was not stopped at write %d", writes)
					}
					if got := w.all(); !reflect.DeepEqual(got, want) {
						t.Fatalf("stopped at write %d, there are %v\nwant %v", writes, got, want)
					}
					if wrong := w.half(); wrong != nil {
						t.Fatalf("stopped at write %d: %v", writes, wrong)
					}
					for what, uids := range w.created {
						if len(uids) != 1 {
							t.Fatalf("stopped at write %d, %s was made %d times", writes, what, len(uids))
						}
					}
				}
			})
		}
	}
}

func TestWorks_of_two_processes_that_have_seen_the_same_make_nothing_twice(t *testing.T) {
	w := newWorld(t, objects()...)
	first, _ := w.see()
	second, _ := w.see()
	for _, s := range []*Seen{first, second} {
		if _, err := s.CreateMachines(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.created) != 9 {
		t.Errorf("created was %v", w.created)
	}
	for what, uids := range w.created {
		if len(uids) != 1 {
			t.Errorf("%s was made %d times", what, len(uids))
		}
	}
	if mark := w.plane().Annotations[v1alpha1.BootstrapMark]; mark != string(w.machine("a-bootstrap").UID) {
		t.Errorf("the mark is %s", mark)
	}
}

func TestDeleteCluster_takes_down_what_was_half_made_wherever_the_making_was_stopped(t *testing.T) {
	for name, how := range map[string]func(*world){
		"delete": func(w *world) {
			w.must((*Seen).ask)
			for range 6 {
				w.must((*Seen).DeleteCluster)
				w.clusterAPI()
			}
		},
		"clear": func(w *world) {
			w.must((*Seen).giveUp)
			for range 6 {
				w.must((*Seen).ClearAttempt)
				w.clusterAPI()
			}
		},
	} {
		for writes := 1; writes < 13; writes++ { // before the first, it holds nothing
			w := newWorld(t, objects()...)
			w.left = writes
			_, err := w.do((*Seen).CreateMachines)
			if w.left = -1; err == nil && writes < 12 {
				t.Fatalf("%s: it was not stopped at write %d", name, writes)
			}
			w.clusterAPI()
			if how(w); len(w.all()) != 0 {
				t.Errorf("%s, stopped at write %d: there are %v", name, writes, w.all())
			}
		}
	}
}

func TestWorks_that_were_stopped_leave_an_attempt_whose_Machines_are_those_of_the_marks(t *testing.T) {
	for writes := range 20 {
		w := newWorld(t, append(frame(), asked(1))...)
		w.left = writes
		_, _ = w.do((*Seen).CreateMachines)
		made := w.created["Machine a-bootstrap"]
		switch mark := w.plane().Annotations[v1alpha1.BootstrapMark]; {
		case mark == "" && len(w.created) > 0:
			t.Errorf("after %d writes %v is there, and no mark", writes, w.created)
		case mark != "" && mark != guards.Intended && (len(made) != 1 || string(made[0]) != mark):
			t.Errorf("after %d writes the mark is %s, and the Machine %v", writes, mark, made)
		}
	}
}

func TestWorks_with_lists_that_lag_behind_make_nothing_twice(t *testing.T) {
	w := newWorld(t, append(frame(), asked(3))...)
	w.must((*Seen).CreateMachines)
	w.clusterAPI() // configs are the Machines' now
	want, created := w.all(), fmt.Sprint(w.created)
	w.lag, w.writes = true, nil
	w.must((*Seen).CreateMachines)
	if again := creations(w.writes); again != nil {
		t.Errorf("of what was made a moment ago it asks for %v", again)
	}
	w.maker = New(w.client, w.maker.live, w.maker.now) // another process does not know that
	w.must((*Seen).CreateMachines)
	if _, facts := w.see(); facts.Bootstrap.UID == "" {
		t.Error("a list that lags behind says that the bootstrap Machine is lost")
	}
	if got := w.all(); !reflect.DeepEqual(got, want) || fmt.Sprint(w.created) != created {
		t.Errorf("there are %v, want %v; created was %v", got, want, w.created)
	}
}

func TestWorks_after_a_restart_ask_for_nothing_again_that_is_there(t *testing.T) {
	made := newWorld(t, objects()...)
	made.must((*Seen).CreateMachines)
	for writes := range len(made.writes) {
		w := newWorld(t, objects()...)
		w.left = writes
		_, _ = w.do((*Seen).CreateMachines)
		w.left = -1
		w.must((*Seen).CreateMachines)
		asked := map[string]int{}
		for _, write := range w.writes {
			if strings.HasPrefix(write, "create ") {
				asked[write]++
			}
		}
		for what, times := range asked {
			if times != 1 {
				t.Errorf("after %d writes: %d times %s", writes, times, what)
			}
		}
	}
}
