package compatibility

import (
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/machine"
)

func TestGuards(t *testing.T) {
	usable := Spec{Known: true}
	for name, row := range map[string]struct {
		guard machine.Guard[Facts]
		facts Facts
		want  machine.Truth
		says  string
	}{
		"Deleting/not seen is unknown": {Deleting, Facts{}, machine.Unknown, "not been looked at"},
		"Deleting/no":                  {Deleting, Facts{Seen: true}, machine.No, ""},
		"Deleting/yes":                 {Deleting, Facts{Seen: true, Deleting: true}, machine.Yes, "being deleted"},

		"SpecUsable/not read is unknown, and says why": {SpecUsable, Facts{Seen: true, Spec: Spec{Unread: "no answer"}}, machine.Unknown, "no answer"},
		"SpecUsable/bad data":                          {SpecUsable, Facts{Seen: true, Spec: Spec{Known: true, Problem: "not YAML"}}, machine.No, "not YAML"},
		"SpecUsable/good data":                         {SpecUsable, Facts{Seen: true, Spec: usable}, machine.Yes, ""},

		"HooksReady/what is wanted is not known":              {HooksReady, Facts{Seen: true}, machine.Unknown, ""},
		"HooksReady/a new generation that is not known":       {HooksReady, Facts{Seen: true, Generation: 2, Hooks: Hooks{New: true}}, machine.No, "generation 2 of the spec is new"},
		"HooksReady/a new generation that is as it should be": {HooksReady, Facts{Seen: true, Generation: 2, Hooks: Hooks{Known: true, New: true}}, machine.No, "generation 2 of the spec is new"},
		"HooksReady/one is missing":                           {HooksReady, Facts{Seen: true, Hooks: Hooks{Known: true, Missing: []string{"a is missing", "b is"}}}, machine.No, "a is missing; b is"},
		"HooksReady/none is missing":                          {HooksReady, Facts{Seen: true, Hooks: Hooks{Known: true}}, machine.Yes, ""},
		"NameFree/somebody else has it":                       {NameFree, Facts{Seen: true, Hooks: Hooks{Taken: []string{"Configuration x"}}}, machine.No, "Configuration x"},
		"NameFree/also while the spec cannot be read":         {NameFree, Facts{Seen: true}, machine.Yes, ""},

		"CheckerStays/not looked for":                      {CheckerStays, Facts{Seen: true}, machine.Unknown, "not been looked for"},
		"CheckerStays/no endpoint":                         {CheckerStays, Facts{CheckerSeen: true}, machine.No, "no replica"},
		"CheckerStays/an endpoint that has just come":      {CheckerStays, Facts{CheckerSeen: true, CheckerReady: true}, machine.Unknown, ""},
		"CheckerStays/an endpoint for long enough":         {CheckerStays, Facts{CheckerSeen: true, CheckerReady: true, CheckerStays: true}, machine.Yes, ""},
		"CRDMeets/not read is unknown":                     {CRDMeets, Facts{Seen: true, CRD: CRD{Unread: "no answer"}}, machine.Unknown, "no answer"},
		"CRDMeets/absent is no":                            {CRDMeets, Facts{Seen: true, CRD: CRD{Name: "x", Seen: true, Absent: true}}, machine.No, "CRD x does not exist"},
		"CRDMeets/something is missing":                    {CRDMeets, Facts{Seen: true, CRD: CRD{Seen: true, Missing: []string{"v1: spec.a is missing"}}}, machine.No, "spec.a"},
		"CRDMeets/warnings do not count":                   {CRDMeets, Facts{Seen: true, CRD: CRD{Seen: true, Warnings: []string{"v1: spec.a has another type"}}}, machine.Yes, ""},
		"WorkSucceeds/with an error":                       {WorkSucceeds, Facts{Then: Then{Failing: true}}, machine.No, ""},
		"WorkSucceeds/without":                             {WorkSucceeds, Facts{}, machine.Yes, ""},
		"EnteredByStall/yes":                               {EnteredByStall, Facts{Then: Then{Event: ProgressStalled}}, machine.Yes, ""},
		"EnteredByStall/no":                                {EnteredByStall, Facts{}, machine.No, ""},
		"ProgressIsMade/what is wanted is not known":       {ProgressIsMade, Facts{Seen: true}, machine.Unknown, ""},
		"ProgressIsMade/as much as before":                 {ProgressIsMade, Facts{Seen: true, Hooks: Hooks{Known: true, Done: 2, Missing: []string{"a"}}, Then: Then{Done: 2}}, machine.No, "a"},
		"ProgressIsMade/more than before":                  {ProgressIsMade, Facts{Seen: true, Hooks: Hooks{Known: true, Done: 3, Missing: []string{"a"}}, Then: Then{Done: 2}}, machine.Yes, ""},
		"ProgressIsMade/the CRD was seen":                  {ProgressIsMade, Facts{Seen: true, CRD: CRD{Seen: true}, Hooks: Hooks{Known: true, Done: 2, Missing: []string{"a"}}, Then: Then{Done: 2}}, machine.Yes, ""},
		"ProgressIsMade/nothing is left to do":             {ProgressIsMade, Facts{Seen: true, CRD: CRD{Seen: true}, Hooks: Hooks{Known: true, Done: 2}, Then: Then{Done: 9}}, machine.Yes, ""},
		"InputChanged/another generation":                  {InputChanged, Facts{Seen: true, UID: "u", Generation: 2, Then: Then{Inputs: "u/1"}}, machine.Yes, "changed"},
		"InputChanged/made anew":                           {InputChanged, Facts{Seen: true, UID: "v", Generation: 1, Then: Then{Inputs: "u/1"}}, machine.Yes, "changed"},
		"InputChanged/the same":                            {InputChanged, Facts{Seen: true, UID: "u", Generation: 1, Then: Then{Inputs: "u/1"}}, machine.No, ""},
		"InputChanged/a record that has none begins again": {InputChanged, Facts{Seen: true, UID: "u", Generation: 1}, machine.Yes, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := row.guard.Answer(row.facts); got.Truth != row.want || !strings.Contains(got.Reason, row.says) {
				t.Errorf("answers %s (%q), want %s (%q)", got.Truth, got.Reason, row.want, row.says)
			}
		})
	}
}
