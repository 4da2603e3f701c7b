package clusterapi

import (
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/engine"
)

const leaving = anHour + "\nobject: Deployment.apps a/b\nobject: Namespace a\nobject: ConfigMap a/c"

func TestLeftAlone_is_what_an_act_names_while_it_stands(t *testing.T) {
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		now  time.Time
		text string
		want int
	}{
		"one that stands":   {noon, leaving, 3},
		"one that ended":    {noon.Add(time.Hour), leaving, 0},
		"one from ahead":    {noon.Add(-time.Hour), leaving, 0},
		"one that is none":  {noon, "object: Namespace a", 0},
		"one of no objects": {noon, anHour, 0},
		"nothing":           {noon, "", 0},
	} {
		p := acting(policies(), row.now, map[string]string{acts.LeaveAloneAct: row.text})
		p.world.inputs = "inputs"
		left := p.leftAlone()
		if len(left) != row.want || (p.inputs() != "inputs") != (row.want > 0) {
			t.Errorf("%s: %v is left alone, and the inputs are %s", name, left, p.inputs())
		}
		if row.want > 0 && left[engine.Key{Group: "apps", Kind: "Deployment", Namespace: "a", Name: "b"}] != "by anna until 2026-01-31 13:00:00Z (etcd is slow)" {
			t.Errorf("%s: %v", name, left)
		}
	}
	p := acting(policies(), noon, nil)
	p.world.api = nil
	if p.leftAlone() != nil || p.tellLeft(nil) != nil {
		t.Error("something is left alone without a ClusterAPI")
	}
}

func TestTellLeft(t *testing.T) {
	p := acting(policies(), time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), map[string]string{acts.LeaveAloneAct: leaving})
	p.desired = &engine.Revision{}
	deployment := engine.Key{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "a", Name: "b"}
	report := &engine.Report{Waves: []*engine.Wave{{Objects: []*engine.Object{
		{Key: deployment, Action: engine.LeftAlone, Left: &engine.Left{Differs: "it differs in .spec.replicas"}, Probe: engine.Probe{Answer: engine.AnswerFalse, Message: "0/1 available"}},
		{Key: engine.Key{Version: "v1", Kind: "Namespace", Name: "a"}, Action: engine.Unknown},
	}}}}
	want := []guards.LeftAlone{
		{Object: "Deployment.apps a/b", Differs: "it differs in .spec.replicas", Probe: "0/1 available"},
		{Object: "Namespace a", Differs: "how it is has not been seen yet"},
		{Object: "ConfigMap a/c", Nowhere: true},
	}
	told := p.tellLeft([]*engine.Report{report})
	if len(told) != len(want) {
		t.Fatal(told)
	}
	for i, l := range told {
		if l != want[i] || l.String() == "" {
			t.Errorf("%+v, want %+v", l, want[i])
		}
	}
	p.desired = nil
	if told := p.tellLeft(nil); told[2].Nowhere {
		t.Error("an object counts as nowhere while nobody knows what is wanted")
	}
}
