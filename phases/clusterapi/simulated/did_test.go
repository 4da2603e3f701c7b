package simulated_test

import (
	"context"
	"testing"

	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

func TestActions_say_what_they_have_written_into_the_status_and_nothing_when_it_was_right(t *testing.T) {
	o := newOperator(t)
	said := func(action machine.Action[*phases.Pass], want string) {
		t.Helper()
		_, pass, err := o.phases.Observe(context.Background(), "cluster")
		if err != nil {
			t.Fatal(err)
		}
		result, err := action.Run(context.Background(), pass)
		if err != nil || result.Did != want {
			t.Errorf("%s did %q, want %q (%v)", action.Name, result.Did, want, err)
		}
	}
	one := "4.22.5-" + o.cluster.List("one")[:8] + "-1"
	said(phases.PlanRevision, "listed revision "+one)
	said(phases.PlanRevision, "")
	said(phases.ApplyRevision, "")
	said(phases.RecordCurrent, "made "+one+" the current revision")
	said(phases.RecordCurrent, "")
	said(phases.PruneOrphans, "")
	said(phases.TrimRevisions, "")
	o.cluster.TouchSpec()
	said(phases.PlanRevision, "noted that generation 2 of the spec was seen")
	o.cluster.ClearCurrent()
	said(phases.KeepCurrent, "restored the current revision "+one)
	o.cluster.ClearCurrent()
	two := "4.22.5-" + o.cluster.List("two")[:8] + "-2"
	said(phases.PlanRevision, "restored the current revision "+one+"; listed revision "+two)
	said(phases.ApplyRevision, "")
	said(phases.RecordCurrent, "made "+two+" the current revision")
	said(phases.PruneOrphans, "")
	said(phases.TrimRevisions, "took the revisions before 2 off the list")
}
