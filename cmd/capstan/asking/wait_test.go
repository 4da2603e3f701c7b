package asking

import (
	"strings"
	"testing"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

func TestConfirmed_of_a_pin(t *testing.T) {
	act := &acts.Act{Name: acts.Pin, By: "anna", At: noon}
	pin := func(change func(*guards.Act)) []guards.Act {
		told := guards.Act{Name: acts.Pin, By: "anna", At: noon, Revision: 3}
		change(&told)
		return []guards.Act{told}
	}
	for name, row := range map[string]struct {
		act   *acts.Act
		told  []guards.Act
		done  bool
		wrong string
	}{
		"it counts":                      {act, pin(func(*guards.Act) {}), true, ""},
		"it is not taken up yet":         {act, pin(func(a *guards.Act) { a.Waits = "images are being fetched" }), false, ""},
		"it is refused":                  {act, pin(func(a *guards.Act) { a.Void = "it is not taken up: image x is not to be had" }), false, "image x is not to be had"},
		"another one counts":             {act, pin(func(a *guards.Act) { a.By = "bert" }), false, ""},
		"a pause is no pin":              {act, []guards.Act{{Name: acts.Pause, By: "anna", At: noon}}, false, ""},
		"nothing is told yet":            {act, nil, false, ""},
		"taken back, and told no more":   {nil, nil, true, ""},
		"taken back, and told still":     {nil, pin(func(*guards.Act) {}), false, ""},
		"taken back, and a pause stands": {nil, []guards.Act{{Name: acts.Pause}}, true, ""},
	} {
		now := seen{record: machine.Record{State: table.Installed}, detail: phases.Detail{Acts: row.told}}
		done, err := confirmed(now, Asked{Name: acts.Pin, Act: row.act})
		if done != row.done || (err == nil) != (row.wrong == "") {
			t.Errorf("%s: it is done %v, %v", name, done, err)
		}
		if err != nil && (!strings.Contains(err.Error(), row.wrong) || !strings.Contains(err.Error(), "capstan unpin")) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func TestConfirmed_of_what_is_no_act(t *testing.T) {
	another, room := Asked{Word: "now"}, Asked{Unlisted: []int64{2, 3}}
	listed := func(numbers ...int64) phases.Detail {
		d := phases.Detail{}
		for _, n := range numbers {
			d.Revisions = append(d.Revisions, guards.Revision{Number: n})
		}
		return d
	}
	for name, row := range map[string]struct {
		detail phases.Detail
		asked  Asked
		done   bool
	}{
		"another attempt is seen":             {phases.Detail{Retry: "now"}, another, true},
		"one of before is told":               {phases.Detail{Retry: "before"}, another, false},
		"none is told":                        {phases.Detail{}, another, false},
		"what was removed is told no more":    {listed(1, 4), room, true},
		"one of what was removed is told yet": {listed(1, 3, 4), room, false},
	} {
		done, err := confirmed(seen{record: machine.Record{State: table.Degraded}, detail: row.detail}, row.asked)
		if done != row.done || err != nil {
			t.Errorf("%s: it is done %v, %v", name, done, err)
		}
	}
}
