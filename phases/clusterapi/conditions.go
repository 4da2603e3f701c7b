package clusterapi

import (
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
)

// operandVersion is the name under which an operator reports its own version.
const operandVersion = "operator"

// versions reports the release once everything it asks for is installed and
// nothing older is left; until then what was reported before stays.
func (p *Phases) versions(reported []configv1.OperandVersion, f guards.Facts) []configv1.OperandVersion {
	if !f.Pause.Stands && !f.PinDiffers && f.Planned != "" && f.Desired == f.Planned && f.DesiredNumber == f.CurrentNumber && f.Applied.Complete && f.Older == 0 {
		return []configv1.OperandVersion{{Name: operandVersion, Version: p.Release}}
	}
	return reported
}

// related lists what to look at when something is wrong: the fixed objects,
// every cluster-scoped object of the desired revision, and of each of its
// CustomResourceDefinitions all instances, which are named by their resource
// alone. must-gather takes what is listed.
func (p *Phases) related(told []configv1.ObjectReference) []configv1.ObjectReference {
	refs := []configv1.ObjectReference{
		{Resource: "namespaces", Name: p.OperatorNamespace},
		{Resource: "namespaces", Name: p.CAPINamespace},
		{Resource: "configmaps", Namespace: p.OperatorNamespace, Name: ImagesConfigMap},
		{Group: "operator.openshift.io", Resource: "clusterapis", Name: Singleton},
		{Group: "config.openshift.io", Resource: "infrastructures", Name: Singleton},
	}
	if p.memory.desired == nil {
		return told
	}
	for _, component := range p.memory.desired.Components {
		for _, key := range component.Keys() {
			if key.Namespace != "" {
				continue
			}
			resource, _ := meta.UnsafeGuessKindToResource(key.GVK())
			refs = append(refs, configv1.ObjectReference{Group: resource.Group, Resource: resource.Resource, Name: key.Name})
			if key.Kind == "CustomResourceDefinition" { // its name is <plural>.<group>
				plural, group, _ := strings.Cut(key.Name, ".")
				refs = append(refs, configv1.ObjectReference{Group: group, Resource: plural})
			}
		}
	}
	return refs
}
