package clusterapi

import (
	"time"

	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/conditions"
)

// lasting is never taken off again once it was told: an object that was lost
// and came back tells nothing about what runs.
const lasting configv1.ClusterStatusConditionType = "InstallerControllerAvailable"

// operandVersion is the name under which an operator reports its own version.
const operandVersion = "operator"

// merge puts what is told in the place of what was said before. A condition that
// is not sure leaves what was said.
func merge(old []configv1.ClusterOperatorStatusCondition, told []Condition, now time.Time) []configv1.ClusterOperatorStatusCondition {
	var out []configv1.ClusterOperatorStatusCondition
	for _, c := range told {
		before := conditions.Find(old, configv1.ClusterStatusConditionType(c.Type))
		if c.Unsure && before != nil && decided(before.Status) {
			out = append(out, *before)
			continue
		}
		condition := configv1.ClusterOperatorStatusCondition{
			Type: configv1.ClusterStatusConditionType(c.Type), Status: configv1.ConditionFalse, Reason: c.Reason, Message: c.Message,
		}
		if c.Is {
			condition.Status = configv1.ConditionTrue
		}
		out = append(out, condition)
	}
	if said := conditions.Find(old, lasting); said != nil && conditions.Find(out, lasting) == nil {
		out = append(out, *said)
	}
	conditions.Stamp(out, old, now)
	return out
}

// decided is false of statuses that this operator never says.
func decided(status configv1.ConditionStatus) bool {
	return status == configv1.ConditionTrue || status == configv1.ConditionFalse
}

// versions reports the release once everything it asks for is installed and
// nothing older is left; until then what was reported before stays.
func (s *Store) versions(operator *configv1.ClusterOperator, f guards.Facts) []configv1.OperandVersion {
	if f.Wanted != "" && f.Latest == f.Wanted && f.LatestNumber == f.CurrentNumber && f.Applied.Complete && f.Older == 0 {
		return []configv1.OperandVersion{{Name: operandVersion, Version: s.Release}}
	}
	return operator.Status.Versions
}

// related lists what to look at when something is wrong: the fixed objects and
// every cluster-scoped object of the latest revision.
func (s *Store) related(operator *configv1.ClusterOperator) []configv1.ObjectReference {
	refs := []configv1.ObjectReference{
		{Resource: "namespaces", Name: s.OperatorNamespace},
		{Resource: "namespaces", Name: s.CAPINamespace},
		{Resource: "configmaps", Namespace: s.OperatorNamespace, Name: ImagesConfigMap},
		{Group: "operator.openshift.io", Resource: "clusterapis", Name: Singleton},
		{Group: "config.openshift.io", Resource: "infrastructures", Name: Singleton},
	}
	if s.memory.newest == nil {
		return operator.Status.RelatedObjects
	}
	for _, component := range s.memory.newest.Components {
		for _, key := range component.Keys() {
			if key.Namespace == "" {
				resource, _ := meta.UnsafeGuessKindToResource(key.GVK())
				refs = append(refs, configv1.ObjectReference{Group: resource.Group, Resource: resource.Resource, Name: key.Name})
			}
		}
	}
	return refs
}
