package payload

import (
	"maps"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	sigsyaml "sigs.k8s.io/yaml"
)

// snapshot stands for the version of the release, which takes its place in every file.
const snapshot = "0.0.1-snapshot"

// releaseAnnotation names the release whose operator follows the list of images.
const releaseAnnotation = "capi-operator.openshift.io/release-version"

// keysAnnotation names the keys of the list that count, since those of another release stay in it.
const keysAnnotation = "capi-operator.openshift.io/image-keys"

// imagesConfigMap lists the provider images.
const imagesConfigMap = "ConfigMap openshift-cluster-api-operator/capi-installer-images"

// checkImages wants every image that runs or is listed to be one of
// image-references, since a release replaces those and nothing else, and every one
// of those to be used.
func (p *payload) checkImages() []Problem {
	if p.images == nil {
		return []Problem{missing(resolved, "file "+imageReferences)}
	}
	var stream struct {
		Spec struct {
			Tags []struct {
				Name string                 `json:"name"`
				From corev1.ObjectReference `json:"from"`
			} `json:"tags"`
		} `json:"spec"`
	}
	if err := sigsyaml.Unmarshal(p.images.text, &stream); err != nil {
		return []Problem{p.images.problem(resolved, "", "%v", err)}
	}
	var problems []Problem
	unused, tags := map[string]bool{}, map[string]bool{}
	for _, tag := range stream.Spec.Tags {
		if tag.Name == "" || tag.From.Name == "" || tag.From.Kind != "DockerImage" {
			problems = append(problems, p.images.problem(resolved, "spec.tags", "tag %q has no image", tag.Name))
		}
		if tags[tag.Name] || unused[tag.From.Name] {
			problems = append(problems, p.images.problem(resolved, "spec.tags", "tag %s or its image is there twice", tag.Name))
		}
		tags[tag.Name], unused[tag.From.Name] = true, true
	}
	references := maps.Clone(unused)
	use := func(d *document, path, image string) {
		if !references[image] {
			problems = append(problems, d.problem(resolved, path, "%q is not in %s: no release would replace it", image, imageReferences))
		}
		delete(unused, image)
	}
	for _, d := range p.documents {
		for _, container := range d.containers() {
			use(d, "spec.template.spec.containers", container.Image)
		}
		if d.String() == imagesConfigMap {
			data := decode[corev1.ConfigMap](d).Data
			for _, key := range slices.Sorted(maps.Keys(data)) {
				use(d, "data."+key, data[key])
			}
			if got, want := d.GetAnnotations()[keysAnnotation], strings.Join(slices.Sorted(maps.Keys(data)), ","); got != want {
				problems = append(problems, d.problem(resolved, "metadata.annotations", "has %s: %q, not %q: an image of another release would stay listed, or one of this release would not be followed", keysAnnotation, got, want))
			}
		}
	}
	for _, image := range slices.Sorted(maps.Keys(unused)) {
		problems = append(problems, p.images.problem(resolved, "spec.tags", "%s is used nowhere in the payload", image))
	}
	return problems
}

// checkVersions wants the release to wait for its own version, and the operator to
// know it.
func (p *payload) checkVersions() []Problem {
	operator := p.clusterOperator()
	if operator == nil {
		return []Problem{missing(version, "ClusterOperator cluster-api")}
	}
	var problems []Problem
	want := []configv1.OperandVersion{{Name: "operator", Version: snapshot}}
	if got := decode[configv1.ClusterOperator](operator).Status.Versions; !slices.Equal(got, want) {
		problems = append(problems, operator.problem(version, "status.versions", "is not operator: %s: the release would not wait for its version", snapshot))
	}
	for _, d := range p.documents {
		if got := d.GetAnnotations()[releaseAnnotation]; d.String() == imagesConfigMap && got != snapshot {
			problems = append(problems, d.problem(version, "metadata.annotations", "has %s: %q, not %s: the operator of the release before would follow the list", releaseAnnotation, got, snapshot))
		}
		for _, container := range d.containers() {
			names := len(container.Args) == 0 || container.Args[0] != "webhooks" // who only answers reports no version
			if got := environment(container, "RELEASE_VERSION"); names && got != snapshot {
				problems = append(problems, d.problem(version, "spec.template.spec.containers", "container %s has RELEASE_VERSION %q, not %s, which a release replaces", container.Name, got, snapshot))
			}
		}
	}
	return problems
}

// checkRelated wants must-gather to find the namespaces before the operator has
// reported anything.
func (p *payload) checkRelated() []Problem {
	operator := p.clusterOperator()
	if operator == nil {
		return nil // the rule of versions tells it
	}
	var problems []Problem
	objects := decode[configv1.ClusterOperator](operator).Status.RelatedObjects
	for _, d := range p.documents {
		want := configv1.ObjectReference{Resource: "namespaces", Name: d.GetName()}
		if d.GetKind() == "Namespace" && !slices.Contains(objects, want) {
			problems = append(problems, operator.problem(related, "status.relatedObjects", "does not name %s", d))
		}
	}
	return problems
}

func (p *payload) clusterOperator() *document {
	i := slices.IndexFunc(p.documents, func(d *document) bool { return d.String() == "ClusterOperator cluster-api" })
	if i < 0 {
		return nil
	}
	return p.documents[i]
}

func environment(container corev1.Container, name string) string {
	for _, variable := range container.Env {
		if variable.Name == name {
			return variable.Value
		}
	}
	return ""
}
