package clusterapi

import (
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestVersions_of_a_pin_to_what_the_list_asks_for_are_reported(t *testing.T) {
	p, before := &Phases{Release: "4.22.6"}, []configv1.OperandVersion{{Name: operandVersion, Version: "4.22.5"}}
	f := guards.Facts{Planned: "b", Desired: "b", DesiredNumber: 2, CurrentNumber: 2, Applied: guards.Applied{Complete: true}, Pin: "pin by anna"}
	if got := p.versions(before, f)[0].Version; got != "4.22.6" {
		t.Errorf("it reports %s", got)
	}
}

func TestVersions_reports_the_release_once_it_is_installed(t *testing.T) {
	p, before := &Phases{Release: "4.22.6"}, []configv1.OperandVersion{{Name: operandVersion, Version: "4.22.5"}}
	done := guards.Facts{Planned: "b", Desired: "b", DesiredNumber: 2, CurrentNumber: 2, Applied: guards.Applied{Complete: true}}
	if got := p.versions(before, done)[0].Version; got != "4.22.6" {
		t.Errorf("installed, and it reports %s", got)
	}
	for what, f := range map[string]guards.Facts{
		"the planned content is not known": {Desired: "b", DesiredNumber: 2, CurrentNumber: 2, Applied: done.Applied},
		"the inputs ask for other content": {Planned: "c", Desired: "b", DesiredNumber: 2, CurrentNumber: 2, Applied: done.Applied},
		"it is not current yet":            {Planned: "b", Desired: "b", DesiredNumber: 2, CurrentNumber: 1, Applied: done.Applied},
		"a probe fails":                    {Planned: "b", Desired: "b", DesiredNumber: 2, CurrentNumber: 2},
		"it is paused":                     {Planned: "b", Desired: "b", DesiredNumber: 2, CurrentNumber: 2, Applied: done.Applied, Pause: guards.Pause{Stands: true}},
		"the list asks for other images":   {Planned: "b", Desired: "b", DesiredNumber: 2, CurrentNumber: 2, Applied: done.Applied, Pin: "pin by anna", PinDiffers: true},
		"older ones are left":              {Planned: "b", Desired: "b", DesiredNumber: 2, CurrentNumber: 2, Applied: done.Applied, Older: 1},
	} {
		if got := p.versions(before, f)[0].Version; got != "4.22.5" {
			t.Errorf("%s, and it reports %s", what, got)
		}
	}
}
