package provider

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/controllers/provider/options"
)

func TestWatched_kinds_are_read_directly_only_where_all_of_their_objects_are_watched(t *testing.T) {
	busy := func(wholly bool) (count int) {
		for _, kind := range watched(wholly) {
			if kind.Busy {
				count++
			}
		}
		return count
	}
	if busy(true) == 0 || busy(false) != 0 || busy(true) == 0 {
		t.Errorf("%d kinds are read directly of a whole cluster, and %d of a part", busy(true), busy(false))
	}
}

func TestKinds_keep_nothing_of_what_is_not_even_read(t *testing.T) {
	written := metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{}}}
	machine := &clusterv1.Machine{ObjectMeta: written, Status: clusterv1.MachineStatus{Deprecated: &clusterv1.MachineDeprecatedStatus{}}}
	cluster := &clusterv1.Cluster{ObjectMeta: written, Status: clusterv1.ClusterStatus{Deprecated: &clusterv1.ClusterDeprecatedStatus{}}}
	for _, kind := range options.Kinds {
		for _, object := range []client.Object{machine, cluster} {
			if _, is := kind.Object.(*clusterv1.Machine); is == (object == client.Object(machine)) {
				kind.Keep(object)
			}
		}
	}
	if machine.Status.Deprecated != nil || cluster.Status.Deprecated != nil || machine.ManagedFields != nil || cluster.ManagedFields != nil {
		t.Errorf("kept is %+v, %+v", machine, cluster)
	}
}
