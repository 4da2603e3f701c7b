package payload

import (
	"maps"
	"slices"
	"strings"
)

// Annotations that the cluster-version operator reads.
const (
	includePrefix        = "include.release.openshift.io/"
	profileName          = "self-managed-high-availability"
	featureGateKey       = "release.openshift.io/feature-gate"
	featureGateName      = "ClusterAPIMachineManagement"
	capabilityAnnotation = "capability.openshift.io/name"
	capabilityName       = "ClusterAPI"
	createOnlyAnnotation = "release.openshift.io/create-only"
	deleteAnnotation     = "release.openshift.io/delete"
)

func (d *document) isTombstone() bool {
	_, marked := d.GetAnnotations()[deleteAnnotation]
	return marked
}

// checkProfiles wants the one profile in which the release defines ClusterAPI: in
// another one the object of that kind could not be created.
func (p *payload) checkProfiles() []Problem {
	var problems []Problem
	for _, d := range p.documents {
		annotations := d.GetAnnotations()
		if annotations[includePrefix+profileName] != "true" {
			problems = append(problems, d.problem(profile, "metadata.annotations", "has no %s: \"true\": no cluster would get it", includePrefix+profileName))
		}
		for _, key := range slices.Sorted(maps.Keys(annotations)) {
			if other, is := strings.CutPrefix(key, includePrefix); is && other != profileName {
				problems = append(problems, d.problem(profile, "metadata.annotations", "profile %s has no definition of ClusterAPI", other))
			}
		}
	}
	return problems
}

func (p *payload) checkFeatureGate() []Problem {
	return p.annotated(featureGate, featureGateKey, featureGateName, "clusters without the feature would get it")
}

func (p *payload) checkCapability() []Problem {
	return p.annotated(capability, capabilityAnnotation, capabilityName, "nobody could leave it out")
}

func (p *payload) annotated(rule, key, want, otherwise string) []Problem {
	var problems []Problem
	for _, d := range p.documents {
		if got := d.GetAnnotations()[key]; got != want {
			problems = append(problems, d.problem(rule, "metadata.annotations", "has %s: %q, not %s: %s", key, got, want, otherwise))
		}
	}
	return problems
}

// createdOnce are the objects that others write once they are there: the administrator, and the cluster network operator.
var createdOnce = []string{
	"ClusterAPI cluster", "ConfigMap openshift-cluster-api-operator/capi-installer-exceptions",
	"ConfigMap openshift-cluster-api-operator/capstan-trusted-ca",
}

func (p *payload) checkCreateOnly() []Problem {
	var problems []Problem
	for _, name := range createdOnce {
		if !p.has(name) {
			problems = append(problems, missing(createOnly, name))
		}
	}
	for _, d := range p.documents {
		got, is := d.GetAnnotations()[createOnlyAnnotation]
		switch wanted := slices.Contains(createdOnce, d.String()); {
		case wanted && got != "true":
			problems = append(problems, d.problem(createOnly, "metadata.annotations", "has no %s: \"true\": each release would undo what others have written", createOnlyAnnotation))
		case is && !wanted:
			problems = append(problems, d.problem(createOnly, "metadata.annotations", "has %s: no later release could change it", createOnlyAnnotation))
		}
	}
	return problems
}

// checkTombstones wants nothing to be taken away that is brought, or that holds
// what users made.
func (p *payload) checkTombstones() []Problem {
	var problems []Problem
	for _, d := range p.documents {
		if !d.isTombstone() {
			continue
		}
		if got := d.GetAnnotations()[deleteAnnotation]; got != "true" {
			problems = append(problems, d.problem(tombstone, "metadata.annotations", "has %s: %q, which takes nothing away: write \"true\"", deleteAnnotation, got))
		}
		if p.brings(d) {
			problems = append(problems, d.problem(tombstone, "", "is brought by the same payload"))
		}
		if d.GetKind() == "Namespace" || d.GetKind() == "CustomResourceDefinition" {
			problems = append(problems, d.problem(tombstone, "kind", "with a %s goes what users made", d.GetKind()))
		}
		for _, key := range slices.Sorted(maps.Keys(d.Object)) {
			if !slices.Contains([]string{"apiVersion", "kind", "metadata"}, key) {
				problems = append(problems, d.problem(tombstone, key, "what is taken away needs a name and nothing else"))
			}
		}
	}
	return problems
}

func (p *payload) brings(gone *document) bool {
	return slices.ContainsFunc(p.documents, func(d *document) bool { return !d.isTombstone() && d.same() == gone.same() })
}
