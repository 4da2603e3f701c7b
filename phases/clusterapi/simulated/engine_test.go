package simulated_test

import (
	"context"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/clusterapi/simulated"
)

// The engine stands behind the interface of the phases.
var _ phases.Engine = (*simulated.Engine)(nil)

// operator makes passes of one action after the other, as a table would.
type operator struct {
	t       *testing.T
	cluster *simulated.Cluster
	phases  *phases.Phases
}

func newOperator(t *testing.T) *operator {
	c := simulated.New()
	c.CreateClusterAPI()
	c.SetPlatform(true)
	return &operator{t: t, cluster: c, phases: c.Start()}
}

func (o *operator) does(actions ...machine.Action[*phases.Pass]) {
	o.t.Helper()
	for _, action := range actions {
		_, pass, err := o.phases.Observe(context.Background(), "cluster")
		if err != nil {
			o.t.Fatal(err)
		}
		if _, err := action.Run(context.Background(), pass); err != nil {
			o.t.Fatalf("%s: %v", action.Name, err)
		}
	}
}

// fails makes a pass of an action that is refused something for good.
func (o *operator) fails(action machine.Action[*phases.Pass]) {
	o.t.Helper()
	_, pass, err := o.phases.Observe(context.Background(), "cluster")
	if err != nil {
		o.t.Fatal(err)
	}
	if _, err := action.Run(context.Background(), pass); !machine.IsTerminal(err) {
		o.t.Fatalf("%s: %v", action.Name, err)
	}
}

// shows compares what is there with lines that have to be among it.
func (o *operator) shows(lines ...string) {
	o.t.Helper()
	show, err := o.cluster.Do("show", nil)
	if err != nil {
		o.t.Fatal(err)
	}
	for _, line := range lines {
		if !strings.Contains(show, line) {
			o.t.Errorf("there is no %q in\n%s", line, show)
		}
	}
}

// rollsOut goes the way from planning to trimming.
func (o *operator) rollsOut() {
	o.t.Helper()
	o.does(phases.PlanRevision, phases.ApplyRevision, phases.RecordCurrent, phases.PruneOrphans, phases.TrimRevisions)
}

func TestEngine_installs_a_revision_wave_by_wave(t *testing.T) {
	o := newOperator(t)
	id := o.cluster.List("one")[:8]
	o.cluster.Engine.Probe(simulated.Manager, "0/1 replicas available")
	o.does(phases.PlanRevision, phases.ApplyRevision)
	o.shows("listed: 4.22.5-"+id+"-1\n", "at revision 1: ConfigMap capi/only-one, ConfigMap capi/settings, CustomResourceDefinition only-one.example.com, CustomResourceDefinition widgets.example.com, Deployment capi/manager\n")
	o.cluster.Engine.Probe(simulated.Manager, "")
	o.does(phases.ApplyRevision, phases.RecordCurrent)
	o.shows("4.22.5-"+id+"-1 (current)", "Deployment capi/aws-manager", "inventory of revision 1: 7 objects, 0 retained")
}

func TestEngine_upgrades_and_prunes(t *testing.T) {
	o := newOperator(t)
	o.cluster.List("one")
	o.rollsOut()
	id := o.cluster.List("two")[:8]
	o.rollsOut()
	o.shows("listed: 4.22.5-"+id+"-2 (current)\nat revision 2: ", "ConfigMap capi/only-two", "inventory of revision 2: 7 objects, 0 retained")
	if got := o.cluster.Engine.Writes().Deletions; got != 2 {
		t.Errorf("%d objects were deleted, want 2", got)
	}
}

func TestEngine_retains_what_holds_data_until_it_is_empty(t *testing.T) {
	o := newOperator(t)
	const retained = "CustomResourceDefinition only-one.example.com"
	o.cluster.List("one")
	o.rollsOut()
	o.cluster.Engine.Fill(retained, 2)
	o.cluster.List("two")
	o.rollsOut()
	o.does(phases.KeepApplied)
	o.shows("at revision 1: "+retained+" (with 2 instances)\n", "inventory of revision 2: 8 objects, 1 retained")
	o.cluster.Engine.Fill(retained, 0)
	o.does(phases.PruneOrphans, phases.TrimRevisions)
	o.shows("Deployment capi/manager\ninventory of revision 2: 7 objects, 0 retained")
}

func TestEngine_writes_the_rest_of_a_wave_only_while_nothing_was_ever_installed(t *testing.T) {
	o := newOperator(t)
	const refused = "ConfigMap capi/settings"
	o.cluster.List("one")
	o.cluster.Engine.Fail(refused, "spec.nonsense is unknown", true)
	o.does(phases.PlanRevision)
	o.fails(phases.ApplyRevision)
	o.shows("at revision 1: ConfigMap capi/only-one, CustomResourceDefinition only-one.example.com, CustomResourceDefinition widgets.example.com\n")
	o.cluster.Engine.Fail(refused, "", false)
	o.rollsOut()
	o.cluster.List("two")
	o.cluster.Engine.Fail("CustomResourceDefinition widgets.example.com", "spec.nonsense is unknown", true)
	before := o.cluster.Engine.Writes().Objects
	o.does(phases.PlanRevision)
	o.fails(phases.ApplyRevision)
	if wrote := o.cluster.Engine.Writes().Objects - before; wrote != 0 {
		t.Errorf("%d objects were written of a wave of which one is refused", wrote)
	}
}
