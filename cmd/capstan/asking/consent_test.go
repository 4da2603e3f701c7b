package asking

import (
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

func TestConfirmed_of_a_consent(t *testing.T) {
	const object = "CustomResourceDefinition.apiextensions.k8s.io as.test"
	act := &acts.Act{Name: acts.ConsentToDelete, By: "anna", At: noon}
	told := []guards.Act{{Name: acts.ConsentToDelete, By: "anna", At: noon}}
	kept := func(void string, asked time.Time) []guards.RetainedObject {
		return []guards.RetainedObject{{Object: "Namespace a"}, {Object: "CustomResourceDefinition as.test", Group: "apiextensions.k8s.io", Void: void, Asked: asked}}
	}
	lost := func(asked time.Time) []guards.LostObject {
		return []guards.LostObject{{Object: "CustomResourceDefinition as.test", Group: "apiextensions.k8s.io", Asked: asked}}
	}
	others := func(asked time.Time) []guards.LostObject {
		return []guards.LostObject{{Object: "CustomResourceDefinition bs.test", Group: "apiextensions.k8s.io", Asked: asked, More: true}}
	}
	for name, row := range map[string]struct {
		state    machine.State
		told     []guards.Act
		retained []guards.RetainedObject
		done     bool
		wrong    string
		lost     []guards.LostObject
	}{
		"it goes, and another stays":       {table.Pruning, told, kept("", noon)[:1], true, "", lost(noon)},
		"there is no room for it":          {table.Pruning, told, nil, false, "no room for " + object, others(noon)},
		"there was none, by another act":   {table.Pruning, told, nil, false, "", others(noon.Add(-time.Second))},
		"it is retained, and others go":    {table.Pruning, told, kept("", time.Time{}), false, "", others(noon)},
		"it is told as neither":            {table.Pruning, told, kept("", noon)[:1], false, "", nil},
		"it went by another act":           {table.Pruning, told, nil, false, "", lost(noon.Add(-time.Second))},
		"it is back, and retained":         {table.Pruning, told, kept("", time.Time{}), false, "", lost(noon)},
		"it is not looked at yet":          {table.Installed, told, kept("", time.Time{}), false, "", nil},
		"it holds something else":          {table.Installed, told, kept("it was for 1, and there are 2 now", noon), false, "there are 2 now\n  next: look at what it holds now: capstan consent CustomResourceDefinition.apiextensions.k8s.io/as.test, or take the consent back with " + Unconsent, nil},
		"so it did before, by another act": {table.Installed, told, kept("it was for 1, and there are 2 now", noon.Add(-time.Second)), false, "", nil},
		"the act is not seen yet":          {table.Installed, nil, kept("", time.Time{}), false, "", nil},
		"the act is void":                  {table.Installed, []guards.Act{{Name: acts.ConsentToDelete, By: "anna", At: noon, Void: "it is for revision 1"}}, kept("", noon), false, "it is for revision 1", nil},
		"the operator is paused":           {table.Paused, told, kept("", time.Time{}), false, "stays while the operator is paused", nil},
	} {
		now := seen{record: machine.Record{State: row.state}, detail: phases.Detail{Acts: row.told, Retained: row.retained, Lost: row.lost}}
		done, err := confirmed(now, Asked{Name: acts.ConsentToDelete, Act: act, Objects: []string{object}})
		if done != row.done || (err == nil) != (row.wrong == "") || err != nil && !strings.Contains(err.Error(), row.wrong) {
			t.Errorf("%s: it is done %v, %v", name, done, err)
		}
	}
}

func TestConfirmed_of_a_consent_to_uninstall(t *testing.T) {
	act := &acts.Act{Name: acts.ConsentToUninstall, By: "anna", At: noon}
	told := func(used bool, void string) []guards.Act {
		return []guards.Act{{Name: acts.ConsentToUninstall, By: "anna", At: noon, Void: void, Ended: used, Used: used}}
	}
	for name, row := range map[string]struct {
		state machine.State
		told  []guards.Act
		done  bool
		wrong string
	}{
		"it is used":              {table.Pruning, told(true, "revision r is listed"), true, ""},
		"it stands":               {table.Planning, told(false, ""), false, ""},
		"it is not seen yet":      {table.Installed, nil, false, ""},
		"it is for another one":   {table.Installed, told(false, "it is for revision a"), false, "look again: capstan consent --uninstall --reason TEXT, or take the consent back with " + UnconsentToUninstall},
		"the operator is paused":  {table.Paused, told(false, ""), false, "no revision is listed while the operator is paused"},
		"there is no room for it": {table.MaxRevisions, told(false, ""), false, "capstan recover --dry-run"},
	} {
		now := seen{record: machine.Record{State: row.state}, detail: phases.Detail{Acts: row.told}}
		done, err := confirmed(now, Asked{Name: acts.ConsentToUninstall, Act: act})
		if done != row.done || (err == nil) != (row.wrong == "") || err != nil && !strings.Contains(err.Error(), row.wrong) {
			t.Errorf("%s: it is done %v, %v", name, done, err)
		}
	}
}
