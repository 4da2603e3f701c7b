package policy

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// requirementKind forbids changes of a definition that others have.
const requirementKind = "apiextensions.openshift.io/CompatibilityRequirement"

var requirementRule = Rule{
	Name: "requirement",
	Doc:  "CompatibilityRequirements are for definitions of Cluster API's groups, Azure's or cluster.openshift.io.",
	breaches: func(c check) []Breach {
		if !c.is(requirementKind) {
			return nil
		}
		path := []string{"spec", "compatibilitySchema", "customResourceDefinition", "data"}
		text, _, _ := unstructured.NestedString(c.object.Object, path...)
		// Only what is judged is read: aliases of the rest could stand for any number of bytes.
		var crd struct {
			Metadata struct{ Name string }
			Spec     struct{ Group string }
		}
		if err := yaml.Unmarshal([]byte(text), &crd); err != nil {
			return []Breach{{Path: strings.Join(path, "."), Why: "the definition cannot be read: " + err.Error()}}
		}
		// The requirement is for the definition of this name, so both must be of the group.
		if !defines(crd.Spec.Group) || !definedByProviders(crd.Metadata.Name) {
			return []Breach{{Path: strings.Join(path, "."), Why: fmt.Sprintf("definition %q of group %q is not one that providers have", crd.Metadata.Name, crd.Spec.Group)}}
		}
		return nil
	},
}

var serviceRule = Rule{
	Name: "service",
	Doc:  "Services lead to pods: they are not of type ExternalName and have no externalIPs.",
	breaches: func(c check) (breaches []Breach) {
		if !c.is("/Service") {
			return nil
		}
		service := &corev1.Service{}
		breaches = c.read(service)
		report := reporter(&breaches)
		if service.Spec.Type == corev1.ServiceTypeExternalName || service.Spec.ExternalName != "" {
			report("spec.type", "an ExternalName leads whoever asks for the Service elsewhere")
		}
		if len(service.Spec.ExternalIPs) > 0 {
			report("spec.externalIPs", "the Service would take traffic that is not the providers'")
		}
		return breaches
	},
	expression: func(*Policy) string {
		return of([]string{"/Service"}, fmt.Sprintf(`(object.?spec.?type.orValue('') != 'ExternalName' || %s) &&
(object.?spec.?externalName.orValue('') == '' || %s) &&
(object.?spec.?externalIPs.orValue([]) == [] || %s)`, kept("spec.?type"), kept("spec.?externalName"), kept("spec.?externalIPs")))
	},
}
