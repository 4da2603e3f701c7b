package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/render/policy"
)

// LintOptions describe the cluster that profiles are checked for.
type LintOptions struct {
	// Substitutions are the values of the variables in manifests.
	Substitutions map[string]string
	// Namespaces are those that objects may be in.
	Namespaces []string
	// FaultOf says what whoever applies the objects would refuse.
	FaultOf FaultOf
	// Policy is what images may contain, nil for anything.
	Policy *policy.Policy
}

// Lint reports everything that is wrong with profiles, whatever their platform:
// what Render would refuse on some cluster, and what would render and then not
// work. Profiles are checked as one set. Those of different platforms are never
// installed together, so one can neither satisfy nor conflict with the other.
// It returns nil if there is no problem.
func Lint(profiles []Profile, o LintOptions) ProblemsError {
	l := linter{renderer: renderer{substitutions: o.Substitutions, faultOf: o.FaultOf, policy: o.Policy, strict: true}, namespaces: o.Namespaces, components: map[string]int{}}
	for _, p := range l.distinct(profiles) {
		l.add(p)
	}
	l.limits()
	l.duplicates()
	kinds := l.kinds()
	for _, f := range l.found {
		l.kind(f, kinds)
		l.schemas(f)
		l.services(f)
	}
	return l.told()
}

// linter collects the objects of all profiles, and problems.
type linter struct {
	renderer
	namespaces []string
	found      []found
	components map[string]int // by platform
}

// found is an object with its place and its profile's platform.
type found struct {
	object   *unstructured.Unstructured
	at       place
	id       identity
	platform string
}

func (l *linter) report(f found, path, format string, args ...any) {
	l.renderer.report(f.at.problem(path, fmt.Sprintf(format, args...)))
}

// together reports whether some cluster gets both.
func together(a, b found) bool {
	return a.platform == "" || b.platform == "" || a.platform == b.platform
}

// reaches reports whether every cluster that gets user gets provider too.
func reaches(provider, user found) bool {
	return provider.platform == "" || provider.platform == user.platform
}

// add renders a profile by itself and looks at its use of selfImageRef.
func (l *linter) add(p Profile) {
	m, _ := l.metadata(p)
	l.checkSource(Component{Image: p.Image, Profile: p.Name})
	seen := map[identity]place{}
	selfUsed, container := false, ""
	before := len(l.renderer.problems) + l.renderer.untold
	objects, _ := l.objects(0, selected{Profile: p, metadata: m}, seen)
	for _, object := range objects {
		gvk := object.GroupVersionKind()
		f := found{object: object, platform: m.platform, id: identity{
			group: gvk.Group, kind: gvk.Kind, namespace: object.GetNamespace(), name: object.GetName(),
		}}
		f.at = seen[f.id]
		l.found = append(l.found, f)
		selfUsed = selfUsed || contains(object.Object, p.Image)
		if container == "" && runsContainers(object) {
			container = f.at.object
		}
	}
	all := before == len(l.renderer.problems)+l.renderer.untold // one that is refused is not among the objects, and may use it
	switch {
	case m.at.image == "": // there is no metadata, which has been reported
	case m.selfImageRef != "" && !selfUsed && !all:
	case m.selfImageRef != "" && !selfUsed:
		l.renderer.report(m.at.problem("selfImageRef", fmt.Sprintf(
			"%q is in none of the manifests, so nothing would run this image: make the two the same", message.Shorten(m.selfImageRef, 300))))
	case m.selfImageRef == "" && container != "":
		l.renderer.report(m.at.problem("selfImageRef", fmt.Sprintf(
			"is not given, but %s runs containers: give the image that they have in the manifests, so that the release can replace it by its own", container)))
	}
	l.components[m.platform]++
}

// limits reports sets that are too large for a cluster of some platform.
func (l *linter) limits() {
	for _, platform := range slices.Sorted(maps.Keys(l.components)) {
		count := l.components[platform]
		if platform != "" {
			count += l.components[""]
		}
		if count > maxComponents {
			l.renderer.report(Problem{Cause: fmt.Sprintf("these images make %d components on platform %q, and a cluster has at most %d: remove %d",
				count, platform, maxComponents, count-maxComponents)})
		}
	}
}

// contains reports whether text is part of a string in value.
func contains(value any, text string) bool {
	switch v := value.(type) {
	case string:
		return strings.Contains(v, text)
	case map[string]any:
		for _, field := range v {
			if contains(field, text) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return contains(item, text) })
	}
	return false
}

// duplicates reports objects that are in two profiles of one cluster. Rendering
// a profile reports those that are in it twice.
func (l *linter) duplicates() {
	first := map[identity][]found{}
	for _, f := range l.found {
		for _, other := range first[f.id] {
			if together(f, other) {
				l.report(f, "", "the same object is in %s", other.at)
				break
			}
		}
		first[f.id] = append(first[f.id], f)
	}
}
