package openshiftconfig

import (
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/machine"
)

// ready is a worker's config whose Secret is there, and whose machine was not started yet.
var ready = Facts{
	Seen: true, Object: Object{Namespace: "fleet", Name: "a", Role: Worker}, Machine: Machine{Known: true, Name: "a"},
	Cluster: Cluster{Known: true, Name: "c", Initialized: true}, Payload: Payload{Known: true, There: true, Digest: "d"},
	Secret: Secret{Known: true, There: true, Right: true},
}

func with(f Facts, change func(*Facts)) Facts {
	change(&f)
	return f
}

var every = []machine.Guard[Facts]{IsPaused, OwnerIsSet, BootHasBegun, PayloadIsThere, ControlPlaneIsUp, SecretIsRight, InputChanged, WorkSucceeds}

func TestGuards_know_nothing_of_what_was_not_seen(t *testing.T) {
	for _, guard := range every {
		if got := guard.Answer(Facts{}); got.Truth != machine.Unknown {
			t.Errorf("%s answers %s (%q)", guard.Name, got.Truth, got.Reason)
		}
		onlySeen := Facts{Seen: true, Object: Object{Role: Worker}}
		if got := guard.Answer(onlySeen); got.Truth != machine.Unknown || got.Reason == "" {
			t.Errorf("%s answers %s (%q) where nothing else was seen", guard.Name, got.Truth, got.Reason)
		}
	}
}

func TestGuards(t *testing.T) {
	for name, row := range map[string]struct {
		guard machine.Guard[Facts]
		facts Facts
		want  machine.Truth
		says  string
	}{
		"IsPaused/no":                        {IsPaused, ready, machine.No, ""},
		"IsPaused/the Cluster is":            {IsPaused, with(ready, func(f *Facts) { f.Cluster.Paused = true }), machine.Yes, "Cluster c"},
		"IsPaused/the object is":             {IsPaused, with(ready, func(f *Facts) { f.Object.Paused, f.Cluster = true, Cluster{} }), machine.Yes, "fleet/a"},
		"OwnerIsSet/yes":                     {OwnerIsSet, ready, machine.Yes, "Machine a"},
		"OwnerIsSet/no":                      {OwnerIsSet, with(ready, func(f *Facts) { f.Machine.Name = "" }), machine.No, "no Machine"},
		"BootHasBegun/no":                    {BootHasBegun, ready, machine.No, ""},
		"BootHasBegun/infrastructure":        {BootHasBegun, with(ready, func(f *Facts) { f.Machine.Provisioned = true }), machine.Yes, "infrastructure"},
		"BootHasBegun/a Node":                {BootHasBegun, with(ready, func(f *Facts) { f.Machine.Node = "n" }), machine.Yes, "Node n"},
		"PayloadIsThere/yes":                 {PayloadIsThere, ready, machine.Yes, "worker"},
		"PayloadIsThere/no":                  {PayloadIsThere, with(ready, func(f *Facts) { f.Payload = Payload{Known: true, Missing: "Secret x is missing"} }), machine.No, "Secret x"},
		"ControlPlaneIsUp/yes":               {ControlPlaneIsUp, ready, machine.Yes, "initialized"},
		"ControlPlaneIsUp/not yet":           {ControlPlaneIsUp, with(ready, func(f *Facts) { f.Cluster.Initialized = false }), machine.No, "not initialized yet"},
		"ControlPlaneIsUp/a master":          {ControlPlaneIsUp, with(ready, func(f *Facts) { f.Object.Role, f.Cluster = Master, Cluster{} }), machine.Yes, ""},
		"ControlPlaneIsUp/the bootstrap":     {ControlPlaneIsUp, with(ready, func(f *Facts) { f.Object.Role, f.Cluster = Bootstrap, Cluster{} }), machine.Yes, ""},
		"SecretIsRight/yes":                  {SecretIsRight, ready, machine.Yes, ""},
		"SecretIsRight/lost":                 {SecretIsRight, with(ready, func(f *Facts) { f.Secret = Secret{Known: true} }), machine.No, "not there"},
		"SecretIsRight/altered":              {SecretIsRight, with(ready, func(f *Facts) { f.Secret.Right = false }), machine.No, "not as it should be"},
		"WorkSucceeds/an error lasts":        {WorkSucceeds, with(ready, func(f *Facts) { f.Then.Failing = true }), machine.No, ""},
		"WorkSucceeds/none does":             {WorkSucceeds, ready, machine.Yes, "no error"},
		"WorkSucceeds/not all was read":      {WorkSucceeds, with(ready, func(f *Facts) { f.Unseen = "reading a Secret: forbidden" }), machine.Unknown, "forbidden"},
		"WorkSucceeds/after a stall, no":     {WorkSucceeds, with(ready, func(f *Facts) { f.Then.Event, f.Secret.Right = ProgressStalled, false }), machine.No, "not as it should be"},
		"WorkSucceeds/after a stall, yes":    {WorkSucceeds, with(ready, func(f *Facts) { f.Then.Event = ProgressStalled }), machine.Yes, ""},
		"PayloadIsThere/not all was read":    {PayloadIsThere, with(ready, func(f *Facts) { f.Payload, f.Unseen = Payload{}, "reading a Secret: forbidden" }), machine.Unknown, "forbidden"},
		"InputChanged/no":                    {InputChanged, with(ready, func(f *Facts) { f.Then.Inputs = "d" }), machine.No, ""},
		"InputChanged/the way is free":       {InputChanged, with(ready, func(f *Facts) { f.Then.Inputs = "d s1" }), machine.Yes, ""},
		"InputChanged/yes":                   {InputChanged, with(ready, func(f *Facts) { f.Then.Inputs = "e" }), machine.Yes, ""},
		"InputChanged/not known then":        {InputChanged, ready, machine.Yes, ""},
		"InputChanged/not known any more":    {InputChanged, with(ready, func(f *Facts) { f.Then.Inputs, f.Payload = "d", Payload{} }), machine.Unknown, ""},
		"InputChanged/a payload that is off": {InputChanged, with(ready, func(f *Facts) { f.Then.Inputs, f.Payload = "d", Payload{Known: true, Digest: "none"} }), machine.Yes, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := row.guard.Answer(row.facts); got.Truth != row.want || !strings.Contains(got.Reason, row.says) {
				t.Errorf("answers %s (%q), want %s (%q)", got.Truth, got.Reason, row.want, row.says)
			}
		})
	}
}
