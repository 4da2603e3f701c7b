package bootimage

import (
	"slices"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/utils/clock"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/golden"
	"github.com/capstan-capi/capstan/phases/records"
)

// Whether a set without authority counts follows from its twin's being Current.
func TestSave_wakes_the_twin_when_it_becomes_Current_or_ceases_to_be(t *testing.T) {
	c := newCluster(t, configv1.AWSPlatformType, shop, onAWS("a", "ami-old"), ofCAPI("MachineSet", "a", "first"), ofCAPI("MachineDeployment", "a", "first"),
		templateOn("first", "ami-old", "small"))
	var woken []machine.Key
	c.Wake = func(key machine.Key) { woken = append(woken, key) }
	store := c.Store(records.NewConfigMaps[guards.Facts, *Pass](records.Options{
		Live: c.server, Writer: c.server, Clock: clock.RealClock{}, Namespace: "ops", Name: "x", Shards: 1, Keep: func(machine.Record) bool { return false },
	}), func(s Snapshot) Standing { return Standing{Done: s.Record.State == "Current"} })
	for _, row := range []struct {
		key   machine.Key
		state machine.State
		wakes []machine.Key
	}{
		{setA, "Deciding", nil},
		{setA, "Current", []machine.Key{capiA}},
		{setA, "Current", nil},
		{setA, "Deciding", []machine.Key{capiA}},
		{capiA, "Current", []machine.Key{setA}},
		{KeyOf(golden.MachineDeployments, "a"), "Current", nil},
	} {
		pass, f := c.sees(row.key)
		woken = nil
		if _, err := store.Save(t.Context(), row.key, Snapshot{Record: machine.Record{State: row.state}, Facts: f, Seen: pass}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(woken, row.wakes) {
			t.Errorf("when %s is %s, woken are %q", row.key, row.state, woken)
		}
	}
}
