package openshiftcontrolplane

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

// noting is what works are done with that only notes which.
type noting struct {
	facts guards.Facts
	did   []string
}

var errNoted = errors.New("noted")

func (n *noting) Facts() guards.Facts { return n.facts }

func (n *noting) note(what string) (machine.Result, error) {
	n.did = append(n.did, what)
	return machine.Result{Did: what}, errNoted
}

func (n *noting) ResolveInputs(context.Context) (machine.Result, error) {
	return n.note("ResolveInputs")
}

func (n *noting) FreezeInputs(context.Context) (machine.Result, error) { return n.note("FreezeInputs") }

func (n *noting) GenerateIgnition(context.Context) (machine.Result, error) {
	return n.note("GenerateIgnition")
}

func (n *noting) CreateMachines(context.Context) (machine.Result, error) {
	return n.note("CreateMachines")
}

func (n *noting) ProbeAPI(context.Context) (machine.Result, error) { return n.note("ProbeAPI") }

func (n *noting) MarkInitialized(context.Context) (machine.Result, error) {
	return n.note("MarkInitialized")
}

func (n *noting) WatchBootstrap(context.Context) (machine.Result, error) {
	return n.note("WatchBootstrap")
}

func (n *noting) MarkFinished(context.Context) (machine.Result, error) { return n.note("MarkFinished") }

func (n *noting) RemoveBootstrap(context.Context) (machine.Result, error) {
	return n.note("RemoveBootstrap")
}

func (n *noting) HandOver(context.Context) (machine.Result, error) { return n.note("HandOver") }

func (n *noting) KeepInstalled(context.Context) (machine.Result, error) {
	return n.note("KeepInstalled")
}

func (n *noting) AskUpgrade(context.Context) (machine.Result, error) { return n.note("AskUpgrade") }

func (n *noting) ScaleMachines(context.Context) (machine.Result, error) {
	return n.note("ScaleMachines")
}

func (n *noting) ReplaceMachine(context.Context) (machine.Result, error) {
	return n.note("ReplaceMachine")
}

func (n *noting) ClearAttempt(context.Context) (machine.Result, error) { return n.note("ClearAttempt") }

func (n *noting) DeleteCluster(context.Context) (machine.Result, error) {
	return n.note("DeleteCluster")
}

// installed are facts of a cluster whose bootstrap is finished, in a state.
func installed(state machine.State) guards.Facts {
	return guards.Facts{
		Seen: true, Cluster: guards.Cluster{Known: true, Name: "a"}, Marks: guards.Marks{Inputs: "d", Finished: true},
		Then: guards.Then{State: state},
	}
}

func TestWorks_are_done_where_the_marks_allow_the_state_and_nowhere_else(t *testing.T) {
	for name, row := range map[string]struct {
		facts guards.Facts
		want  []string
	}{
		"allowed":             {installed(guards.Installed), []string{"KeepInstalled"}},
		"another stage":       {installed(guards.Bootstrapping), nil},
		"nothing was seen":    {guards.Facts{}, nil},
		"there is no owner":   {with(installed(guards.Installed), func(f *guards.Facts) { f.Cluster.Name = "" }), nil},
		"it is not known":     {with(installed(guards.Installed), func(f *guards.Facts) { f.Cluster.Known = false }), nil},
		"the state is not":    {installed(""), nil},
		"somebody pauses it":  {with(installed(guards.Installed), func(f *guards.Facts) { f.Cluster.Paused = true }), nil},
		"somebody deletes it": {with(installed(guards.Installed), func(f *guards.Facts) { f.Object.Deleting = true }), nil},
		"only a status says":  {with(installed(guards.Installed), func(f *guards.Facts) { f.Noted, f.Marks = f.Marks, guards.Marks{} }), []string{"KeepInstalled"}},
	} {
		t.Run(name, func(t *testing.T) {
			n := &noting{facts: row.facts}
			result, err := KeepInstalled.Run(t.Context(), n)
			if !reflect.DeepEqual(n.did, row.want) || row.want == nil && (err != nil || result.LookAgain != again) || row.want != nil && !errors.Is(err, errNoted) {
				t.Errorf("did %v (%+v, %v), want %v", n.did, result, err, row.want)
			}
		})
	}
}

func TestDeleteCluster_is_done_whatever_the_marks_say_where_somebody_wants_it_and_nowhere_else(t *testing.T) {
	deleted := func(change ...func(*guards.Facts)) guards.Facts {
		f := with(installed(guards.Deleting), func(f *guards.Facts) { f.Object.Deleting = true })
		for _, how := range change {
			how(&f)
		}
		return f
	}
	for name, row := range map[string]struct {
		facts guards.Facts
		does  bool
	}{
		"of an installed cluster": {deleted(), true},
		"before anything is done": {deleted(func(f *guards.Facts) { f.Marks = guards.Marks{} }), true},
		"without its Cluster":     {deleted(func(f *guards.Facts) { f.Cluster.Name = "" }), true},
		"while somebody pauses":   {deleted(func(f *guards.Facts) { f.Object.Paused = true }), false},
		"by a forged record":      {deleted(func(f *guards.Facts) { f.Object.Deleting = false }), false},
		"and nothing was seen":    {guards.Facts{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := &noting{facts: row.facts}
			if result, err := DeleteCluster.Run(t.Context(), n); (len(n.did) > 0) != row.does || !row.does && (err != nil || result.LookAgain != again) {
				t.Errorf("did %v (%+v, %v)", n.did, result, err)
			}
		})
	}
}

func with(f guards.Facts, change func(*guards.Facts)) guards.Facts {
	change(&f)
	return f
}

func TestWorks_each_does_what_its_name_says(t *testing.T) {
	finished := installed(guards.Installed)
	for _, action := range []machine.Action[Works]{
		ResolveInputs, GenerateIgnition, CreateMachines, ProbeAPI, WatchBootstrap, RemoveBootstrap, KeepInstalled, AskUpgrade, ScaleMachines,
		ReplaceMachine, ClearAttempt, DeleteCluster, FreezeInputs, MarkInitialized, MarkFinished, HandOver,
	} {
		n := &noting{facts: finished}
		n.facts.Object.Deleting = action.Name == DeleteCluster.Name
		if _, err := action.Run(t.Context(), n); !errors.Is(err, errNoted) || !reflect.DeepEqual(n.did, []string{action.Name}) {
			t.Errorf("%s did %v (%v)", action.Name, n.did, err)
		}
		if len(action.Writes) == 0 || !strings.HasSuffix(action.Doc, ".") {
			t.Errorf("%s does not say what it writes", action.Name)
		}
	}
	n := &noting{facts: finished}
	if _, err := Settle.Run(t.Context(), n); !errors.Is(err, errNoted) || n.did[0] != "RemoveBootstrap" {
		t.Errorf("Settle did %v (%v)", n.did, err)
	}
}

func TestLeaked_counts_a_bootstrap_Machine_that_nobody_needs(t *testing.T) {
	left := with(installed(guards.Installed), func(f *guards.Facts) { f.Bootstrap = guards.Bootstrap{Known: true, UID: "u"} })
	for name, row := range map[string]struct {
		facts guards.Facts
		want  int
	}{
		"it is left":        {left, 1},
		"it is gone":        {with(left, func(f *guards.Facts) { f.Bootstrap.UID = "" }), 0},
		"it is to stay":     {with(left, func(f *guards.Facts) { f.Object.Retain = true }), 0},
		"it is needed":      {with(left, func(f *guards.Facts) { f.Marks.Finished = false }), 0},
		"nobody has looked": {with(left, func(f *guards.Facts) { f.Bootstrap.Known = false }), 0},
	} {
		if got := Leaked(&noting{facts: row.facts}); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
}
