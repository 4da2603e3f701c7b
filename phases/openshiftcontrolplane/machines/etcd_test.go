package machines

import (
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
)

// A guest at rest is asked once a minute, in which another Node may have gone and another member come.
func TestMachines_are_made_deleted_and_let_go_by_what_the_guest_has_said_a_moment_ago(t *testing.T) {
	for name, row := range map[string]struct {
		replicas int32
		sick     bool
		work     work
	}{
		"one more":  {5, false, (*Seen).ScaleMachines},
		"one less":  {1, false, (*Seen).ScaleMachines},
		"unhealthy": {3, true, (*Seen).ReplaceMachine},
	} {
		w := installed(t, 3, managed)
		resize(w, row.replicas)
		if row.sick {
			sick(w, "a-1")
		}
		w.guest.Fresh = false
		if result, err := w.do(row.work); err != nil || result.LookAgain == 0 || w.writes != nil {
			t.Errorf("%s: it did %v (%+v, %v)", name, w.writes, result, err)
		}
		w.guest.Fresh = true
		w.must(row.work)
		if w.writes == nil {
			t.Errorf("%s: it did nothing", name)
		}
	}
	w := installed(t, 3, managed)
	if err := w.api.Delete(t.Context(), w.machine("a-2")); err != nil {
		t.Fatal(err)
	}
	w.outOfEtcd("a-2")
	w.guest.Fresh = false
	if result, err := w.do((*Seen).KeepInstalled); err != nil || result.LookAgain == 0 || w.writes != nil {
		t.Errorf("it let go: %v (%+v, %v)", w.writes, result, err)
	}
	w.guest.Fresh = true
	w.must((*Seen).KeepInstalled)
	if _, held := w.machine("a-2").Annotations[deletionHook]; held {
		t.Error("it does not let go")
	}
}

func inside(address string) clusterv1.MachineAddresses {
	return clusterv1.MachineAddresses{{Type: clusterv1.MachineInternalIP, Address: address}}
}

func outside(address string) clusterv1.MachineAddresses {
	return clusterv1.MachineAddresses{{Type: clusterv1.MachineExternalIP, Address: address}}
}

// A provider of infrastructure need not tell a machine's addresses.
func TestScaleMachines_hold_a_Machine_whose_member_of_etcd_only_its_Node_tells(t *testing.T) {
	const name = "a-2"
	for row, tell := range map[string]struct {
		addresses clusterv1.MachineAddresses
		node      []string // nil for no Node in the guest
		nodeRef   bool
		endpoints []string
		held      bool
	}{
		"etcd lists nobody":                     {inside("10.0.0.3"), nil, true, []string{}, true},
		"what etcd lists cannot be read":        {inside("10.0.0.3"), nil, true, []string{"10.0.0.1", "a-0.example.com"}, true},
		"an address is written another way":     {inside("fd00::0:1"), nil, true, []string{"fd00::1"}, true},
		"an address of IPv4 is mapped to IPv6":  {inside("::ffff:10.0.0.3"), nil, true, []string{"10.0.0.3"}, true},
		"an address is in brackets":             {inside("fd00::1"), nil, true, []string{"[fd00::1]"}, true},
		"its own address is not listed":         {inside("10.0.0.3"), nil, true, []string{"10.0.0.1"}, false},
		"an address outside tells nothing":      {outside("192.0.2.1"), nil, true, []string{ipOf("a-0"), ipOf("a-1"), "10.0.0.3"}, true},
		"all that are listed are others'":       {outside("192.0.2.1"), nil, true, []string{ipOf("a-0"), ipOf("a-1")}, false},
		"one that is no Node and may be listed": {outside("192.0.2.1"), nil, false, []string{"192.0.2.1"}, true},
		"the Node is listed":                    {nil, []string{"10.0.0.3"}, true, []string{"10.0.0.1", "10.0.0.3"}, true},
		"the Node is listed no more":            {nil, []string{"10.0.0.3"}, true, []string{"10.0.0.1"}, false},
		"nobody knows an address":               {nil, []string{}, true, []string{"10.0.0.1"}, true},
		"the Node is gone":                      {nil, nil, true, []string{"10.0.0.1"}, true},
		"a name is no address":                  {clusterv1.MachineAddresses{{Type: clusterv1.MachineHostName, Address: name}}, nil, true, []string{"10.0.0.1"}, true},
		"no Node is known, nor whose is listed": {nil, nil, false, []string{ipOf("a-0"), "10.0.0.1"}, true},
		"it has never been a Node":              {nil, nil, false, []string{ipOf("a-0"), ipOf("a-1")}, false},
		"the Machine is listed, not its Node":   {outside("10.0.0.9"), []string{"10.0.0.3"}, true, []string{"10.0.0.9"}, true},
	} {
		w := installed(t, 3, managed)
		resize(w, 1)
		in(w, guards.Scaling)
		if tell.node == nil {
			w.guest.Nodes = w.guest.Nodes[:2]
		} else {
			w.node(name).Addresses = tell.node
		}
		change(w, w.machine(name), func(m *clusterv1.Machine) {
			m.Status.Addresses = tell.addresses
			if !tell.nodeRef {
				m.Status.NodeRef = clusterv1.MachineNodeReference{}
			}
		})
		if err := w.api.Delete(t.Context(), w.machine(name)); err != nil {
			t.Fatal(err)
		}
		w.guest.Etcd.Endpoints = tell.endpoints
		w.must((*Seen).ScaleMachines)
		if _, held := w.machine(name).Annotations[deletionHook]; held != tell.held {
			t.Errorf("%s: it is held: %v", row, held)
		}
	}
}

// The Node of a machine that is stopped is taken away before etcd's member is.
func TestKeepInstalled_remembers_the_addresses_of_a_Node_that_is_gone(t *testing.T) {
	const name, at = "a-2", "10.0.0.3"
	for _, listed := range []bool{true, false} {
		w := installed(t, 3, managed)
		w.node(name).Addresses = []string{at}
		change(w, w.machine(name), func(m *clusterv1.Machine) { m.Status.Addresses = outside("192.0.2.1") })
		w.must((*Seen).KeepInstalled)
		w.writes = nil
		if w.must((*Seen).KeepInstalled); w.writes != nil {
			t.Errorf("what is known was written again: %v", w.writes)
		}
		w.guest.Nodes = w.guest.Nodes[:2]
		w.guest.Etcd.Endpoints = []string{"10.0.0.1", "10.0.0.2"}
		if listed {
			w.guest.Etcd.Endpoints = append(w.guest.Etcd.Endpoints, at)
		}
		if err := w.api.Delete(t.Context(), w.machine(name)); err != nil {
			t.Fatal(err)
		}
		w.must((*Seen).KeepInstalled)
		if _, held := w.machine(name).Annotations[deletionHook]; held != listed {
			t.Errorf("it is listed: %t, and held: %t", listed, held)
		}
	}
}
