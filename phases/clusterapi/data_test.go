package clusterapi

import (
	"fmt"
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

func TestData_that_an_earlier_process_has_told_is_told_until_this_one_has_looked(t *testing.T) {
	other := engine.Key{Group: theDefinition.Group, Version: "v1", Kind: theDefinition.Kind, Name: "bs.test"}
	told := dataIn(storedDetail(Detail{
		Revisions: []guards.Revision{{Number: 1}, {Number: 2}},
		Retained: []guards.RetainedObject{
			{Object: theDefinition.String(), Group: theDefinition.Group, Why: "holds 3 instances", Count: 3},
			{Object: "Namespace a", Why: "holds 1 object", Count: 1},
		},
	}.encode()))
	if got := told.retainedBeside(2); len(got) != 2 || got[0].Count != 3 || told.retainedBeside(3) != nil {
		t.Errorf("beside 2 it tells %+v, beside 3 %+v", got, told.retainedBeside(3))
	}
	if got := told.listed(engine.Orphans{}, 2); len(got) != 2 {
		t.Errorf("before inventories were seen: %+v", got)
	}
	seen := engine.Orphans{Seen: true, Open: []engine.Key{theDefinition}, Retained: []engine.Key{other}}
	if got := told.listed(seen, 2); len(got) != 2 || got[0].Count != 3 || got[1].Object != other.String() {
		t.Errorf("what no inventory lists any more, and what only one lists: %+v", got)
	}
	waits := told.after(&engine.TeardownReport{Wait: "pruning waits for revision r to be applied"}, 2, nil)
	if got := waits.listed(seen, 2); len(got) != 2 {
		t.Errorf("after a look that could not begin: %+v", got)
	}
	looked := waits.after(&engine.TeardownReport{Gone: []engine.Orphan{{Key: theDefinition, Action: engine.Absent}}}, 2, nil)
	if got := looked.listed(seen, 2); len(got) != 0 {
		t.Errorf("after a look: %+v", got)
	}
	if got := looked.listed(seen, 3); len(got) != 1 {
		t.Errorf("beside another revision: %+v", got)
	}
}

func TestData_is_told_as_lost_once_it_goes_and_only_while_that_consent_stands(t *testing.T) {
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	given := func(at time.Time) map[engine.Key]engine.Consent {
		return map[engine.Key]engine.Consent{theDefinition.Identity(): {UID: "1", At: at}}
	}
	waiting := func(action engine.Action) *engine.TeardownReport {
		return &engine.TeardownReport{Waiting: []engine.Orphan{{Key: theDefinition, Action: action, UID: "1"}}}
	}
	for name, row := range map[string]struct {
		report *engine.TeardownReport
		count  int
	}{
		"it goes":                   {waiting(engine.Terminating), 1},
		"its turn has not come":     {waiting(engine.Pending), 0},
		"it could not be listed":    {waiting(engine.Failed), 0},
		"it stays":                  {&engine.TeardownReport{Retained: []engine.Orphan{{Key: theDefinition, Action: engine.Retained, UID: "1"}}}, 0},
		"it is gone":                {&engine.TeardownReport{Gone: []engine.Orphan{{Key: theDefinition, Action: engine.Absent}}}, 1},
		"another one of it goes":    {&engine.TeardownReport{Waiting: []engine.Orphan{{Key: theDefinition, Action: engine.Terminating, UID: "2"}}}, 0},
		"another object is deleted": {&engine.TeardownReport{Gone: []engine.Orphan{{Key: engine.Key{Kind: "Namespace", Name: "a"}, Action: engine.Deleted}}}, 0},
	} {
		found := data{}.after(row.report, 2, given(at))
		if got := found.lostBeside(2, given(at)); len(got) != row.count || row.count > 0 && got[0].Named() != "CustomResourceDefinition.apiextensions.k8s.io as.test" {
			t.Errorf("%s: %+v", name, got)
		}
		later := dataIn(storedDetail(Detail{Revisions: []guards.Revision{{Number: 2}}, Lost: found.lost}.encode())).after(&engine.TeardownReport{}, 2, given(at))
		if got := later.lostBeside(2, given(at)); len(got) != row.count {
			t.Errorf("%s, and another process looks, which finds nothing any more: %+v", name, got)
		}
		if later.lostBeside(3, given(at)) != nil || later.lostBeside(2, given(at.Add(time.Second))) != nil || later.lostBeside(2, nil) != nil {
			t.Errorf("%s: it is told of another consent, or of none", name)
		}
	}
	going := data{}.after(waiting(engine.Terminating), 2, given(at))
	for action, count := range map[engine.Action]int{engine.Failed: 1, engine.Pending: 1, engine.Foreign: 0} {
		if got := going.after(waiting(action), 2, given(at)); len(got.lost) != count {
			t.Errorf("it goes, and then it is %s: %+v", action, got.lost)
		}
	}
}

func TestData_says_where_there_is_no_room_for_more_that_is_lost(t *testing.T) {
	lost := make([]guards.LostObject, 60)
	for i := range lost {
		lost[i] = guards.LostObject{Object: fmt.Sprintf("CustomResourceDefinition %s%d.test", strings.Repeat("a", 250), i), Group: theDefinition.Group}
	}
	told := storedDetail(Detail{Lost: lost}.encode()).Lost
	if len(told) == 0 || len(told) == len(lost) || !told[len(told)-1].More || told[0].More {
		t.Errorf("%d are told, the last as %+v", len(told), told[len(told)-1])
	}
	many := make([]guards.LostObject, maxListed+1)
	if told = storedDetail(Detail{Lost: many}.encode()).Lost; len(told) != maxListed || !told[maxListed-1].More || many[maxListed-1].More {
		t.Errorf("of %d there are %d told", len(many), len(told))
	}
	if told = storedDetail(Detail{Lost: many[1:]}.encode()).Lost; len(told) != maxListed || told[maxListed-1].More {
		t.Errorf("of %d there are %d told, and more", maxListed, len(told))
	}
}
