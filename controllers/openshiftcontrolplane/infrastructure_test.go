package openshiftcontrolplane

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
)

func TestInfrastructure_asks_for_what_comes_goes_or_changes_in_more_than_its_status(t *testing.T) {
	var asked []string
	i := &infrastructure{asks: func(o client.Object) { asked = append(asked, o.GetName()) }}
	at := func(version string, owners ...metav1.OwnerReference) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "m" + version, ResourceVersion: version, OwnerReferences: owners}}
	}
	h := i.handler()
	h.OnAdd(at("1"), false)
	h.OnUpdate(at("1"), at("2"))
	h.OnUpdate(at("2"), at("3", metav1.OwnerReference{Name: "a"}))
	h.OnDelete(toolscache.DeletedFinalStateUnknown{Obj: at("4")})
	if want := []string{"m1", "m3", "m4"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %v, want %v", asked, want)
	}
}

func TestMachineKinds_are_those_of_the_templates(t *testing.T) {
	plane := &v1alpha1.OpenShiftControlPlane{}
	plane.Spec.MachineTemplate.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: "g", Kind: "BoxMachineTemplate"}
	plane.Spec.BootstrapMachine.InfrastructureRef = &clusterv1.ContractVersionedObjectReference{APIGroup: "g", Kind: "TubMachineTemplate"}
	if got, want := machineKinds(plane), []schema.GroupKind{{Group: "g", Kind: "BoxMachine"}, {Group: "g", Kind: "TubMachine"}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
