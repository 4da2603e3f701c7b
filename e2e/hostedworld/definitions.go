package hostedworld

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capstan-capi/capstan/deploy/privatecapi"
)

// Groups of Cluster API, everybody's and the private ones, and HyperShift's.
const (
	Standard   = "cluster.x-k8s.io"
	Private    = "cluster.hypershift.openshift.io"
	HyperShift = "hypershift.openshift.io"
	// infrastructure is what the group of the provider begins with, on either side.
	infrastructure = "infrastructure."
	// version is the one that each kind of Cluster API has here: what nobody converts has one.
	version = "v1beta2"
)

// moved are the core's kinds that there are, by their resource, in their real schema.
var moved = map[string]string{"clusters": "Cluster", "machinesets": "MachineSet", "machines": "Machine"}

// Definitions are those of Cluster API on both sides, with a provider's that has its machines in memory, and the stand-in for
// HyperShift's, which keeps whatever fields it is given.
func Definitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return DefinitionsWith("inmemorymachines", inMemoryMachine)
}

// DefinitionsWith are the same with another provider's kind of machines, which keeps whatever fields it is given, too.
func DefinitionsWith(machines, machine string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	shipped, err := privatecapi.Definitions()
	if err != nil {
		return nil, err
	}
	all := []*apiextensionsv1.CustomResourceDefinition{Loose(HyperShift, "v1beta1", "hostedclusters", "HostedCluster")}
	for _, group := range []string{Standard, Private} {
		all = append(all, Loose(infrastructure+group, version, machines, machine))
	}
	for _, object := range shipped {
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, definition); err != nil {
			return nil, fmt.Errorf("reading CustomResourceDefinition %s: %w", object.GetName(), err)
		}
		if moved[definition.Spec.Names.Plural] != "" {
			all = append(all, alone(definition, Private), alone(definition, Standard))
		}
	}
	return all, nil
}

// alone is a definition in a group, with one version.
func alone(of *apiextensionsv1.CustomResourceDefinition, group string) *apiextensionsv1.CustomResourceDefinition {
	made := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: of.Spec.Names.Plural + "." + group}, Spec: *of.Spec.DeepCopy()}
	made.Spec.Group, made.Spec.Conversion, made.Spec.Versions = group, nil, nil
	for _, v := range of.Spec.Versions {
		if v.Name == version {
			v.Storage, v.Served = true, true
			made.Spec.Versions = append(made.Spec.Versions, *v.DeepCopy())
		}
	}
	return made
}

// Loose is a definition that keeps whatever fields it is given.
func Loose(group, version, plural, kind string) *apiextensionsv1.CustomResourceDefinition {
	keeps := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind, ListKind: kind + "List"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: version, Served: true, Storage: true,
				Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &keeps}},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}
