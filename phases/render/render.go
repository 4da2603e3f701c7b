package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/render/policy"
)

// Profile is one folder of a provider image, as bytes.
type Profile struct {
	// Image is the reference, by digest, that the profile came from.
	Image string
	// Name is the profile's folder.
	Name string
	// Metadata and Manifests are the contents of metadata.yaml and
	// manifests.yaml.
	Metadata, Manifests []byte
}

// Input is everything a revision depends on. The order of Profiles, of
// Unmanaged and of the map has no influence on the result.
type Input struct {
	Profiles []Profile
	// Platform is the cluster's platform type; only profiles of that platform,
	// or of none, are selected.
	Platform string
	// Substitutions are the values of the variables in manifests.
	Substitutions map[string]string
	// Unmanaged are names of CustomResourceDefinitions that must not be
	// applied. They are rendered all the same: the engine leaves them out. Those
	// that no profile has do not count.
	Unmanaged []string
	// Partial says that profiles of the revision are missing: it derives no requirements, since any of them can ask for a
	// version of a definition.
	Partial bool
	// Namespace is the providers' one, for whose objects unmanaged definitions are required.
	Namespace string
	// FaultOf says what whoever applies the objects would refuse. Listed does
	// not ask: what is listed was applied once.
	FaultOf FaultOf
	// Policy is what images may contain, nil for anything. Listed refuses nothing for it, as for FaultOf; what breaks a rule
	// is labelled with it.
	Policy *policy.Policy
	// Take is given the objects of each component, in the order of the revision,
	// which does not hold them then; without it, it does. All objects at once are
	// large, and whoever keeps them in another form need not have them. Last it is
	// given the requirements that the revision derives: those of RequirementsComponent
	// at -1, and more objects of components that it has been given.
	Take func(at int, component string, objects []*unstructured.Unstructured)
}

// ComponentRef points at the profile that a component was made from.
type ComponentRef struct {
	Image, Profile string
}

// Component is a rendered profile. Its objects are shared: readers must not
// change them.
type Component struct {
	Name         string
	Image        string
	Profile      string
	Platform     string // empty: every platform
	InstallOrder int
	Attributes   map[string]string
	ContentID    string
	Objects      []*unstructured.Unstructured // nil where Input.Take was given them
}

// Skipped is a profile that was not selected, and why.
type Skipped struct {
	Name, Image, Profile, Platform, Reason string
}

// Substitution is one variable and its value.
type Substitution struct {
	Key, Value string
}

// Revision is the result of rendering: components in the order they are to be
// installed.
type Revision struct {
	ContentID     string
	Components    []Component
	Skipped       []Skipped      // sorted by name, image and profile
	Substitutions []Substitution // sorted by key
	Unmanaged     []string       // those that are rendered, sorted, each once
	Nowhere       []string       // those that are listed and that no profile has, alike
	// Shapes are what is required of unmanaged definitions before all components; nil where Input.Take was given them.
	Shapes []*unstructured.Unstructured
	// Warnings are what does not keep the revision from being applied, and should be mended in the images.
	Warnings []Problem
}

// MissingError says that components of a listed revision are not among the
// profiles at hand. It is not terminal: their images may still be fetched.
type MissingError struct {
	Components []ComponentRef
}

func (e *MissingError) Error() string {
	var text []string
	for _, c := range e.Components {
		text = append(text, fmt.Sprintf("profile %s of image %s", c.Profile, c.Image))
	}
	return message.Shorten("rendering a listed revision needs profiles that are not at hand: "+strings.Join(text, ", "), maxText)
}

// Render selects, orders and renders the profiles that belong to the platform.
// Its error is a ProblemsError: everything that is wrong, at once. A profile of
// another platform must have valid metadata; its manifests are not looked at.
// Bad metadata that names no other platform does not stop its manifests from
// being looked at.
func Render(in Input) (*Revision, error) {
	r := renderer{substitutions: in.Substitutions, faultOf: in.FaultOf, policy: in.Policy, take: in.Take, namespace: in.Namespace, needs: needsOf(in.Unmanaged)}
	var chosen []selected
	var skipped []Skipped
	for _, p := range r.distinct(in.Profiles) {
		m, ok := r.metadata(p)
		if m.platform != "" && m.platform != in.Platform {
			if ok {
				skipped = append(skipped, Skipped{Name: m.name, Image: p.Image, Profile: p.Name, Platform: m.platform, Reason: fmt.Sprintf("for platform %s, the cluster's is %q", m.platform, in.Platform)})
			}
			continue
		}
		// Bad metadata prevents a revision, but the problems of the manifests are reported too.
		chosen = append(chosen, selected{Profile: p, metadata: m})
	}
	slices.SortFunc(chosen, installOrder)
	slices.SortFunc(skipped, func(a, b Skipped) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Image, b.Image), cmp.Compare(a.Profile, b.Profile))
	})
	rev := r.revision(chosen)
	rev.Skipped = skipped
	return r.result(rev)
}

// Listed renders a revision that was published earlier: the components of
// order, in that order, with the substitutions and unmanaged names recorded
// then (in.Platform plays no part). The caller compares the content ID with the
// recorded one. A component without profile is a *MissingError; any other
// error is a ProblemsError, as for Render.
func Listed(in Input, order []ComponentRef) (*Revision, error) {
	r := renderer{substitutions: in.Substitutions, policy: in.Policy, take: in.Take, namespace: in.Namespace, needs: needsOf(in.Unmanaged), listed: true, partial: in.Partial}
	profiles := map[ComponentRef]Profile{}
	for _, p := range r.distinct(in.Profiles) {
		profiles[ComponentRef{Image: p.Image, Profile: p.Name}] = p
	}
	var chosen []selected
	var missing []ComponentRef
	for _, ref := range order {
		p, ok := profiles[ref]
		if !ok {
			missing = append(missing, ref)
			continue
		}
		if m, ok := r.metadata(p); ok {
			chosen = append(chosen, selected{Profile: p, metadata: m})
		}
	}
	if len(missing) > 0 {
		return nil, &MissingError{Components: missing}
	}
	return r.result(r.revision(chosen))
}

// selected is a profile that becomes a component.
type selected struct {
	Profile
	metadata metadata
}

// installOrder leaves no two profiles equal, so that the result never depends
// on where a profile stood in the input. The empty platform sorts first.
func installOrder(a, b selected) int {
	return cmp.Or(
		cmp.Compare(a.metadata.installOrder, b.metadata.installOrder),
		cmp.Compare(a.metadata.platform, b.metadata.platform),
		cmp.Compare(a.metadata.name, b.metadata.name),
		cmp.Compare(a.Image, b.Image),
		cmp.Compare(a.Name, b.Name),
	)
}

// renderer collects problems while it works.
type renderer struct {
	substitutions map[string]string
	faultOf       FaultOf
	policy        *policy.Policy
	take          func(at int, component string, objects []*unstructured.Unstructured)
	namespace     string
	needs         needs
	problems      ProblemsError
	untold        int // problems besides these
	most          int // problems that are told, 0 for maxProblems
	warnings      ProblemsError
	strict        bool // what is a warning to a cluster is a problem
	listed        bool // the revision is listed already
	partial       bool // profiles of it are missing
	steps         int  // that its substitutions have taken
}

func (r *renderer) report(problems ...Problem) {
	told := min(len(problems), max(0, cmp.Or(r.most, maxProblems)-len(r.problems)))
	r.problems, r.untold = append(r.problems, problems[:told]...), r.untold+len(problems)-told
}

// troubles is how many problems were found.
func (r *renderer) troubles() int { return len(r.problems) + r.untold }

// told are the problems, sorted, and how many are not among them.
func (r *renderer) told() ProblemsError {
	told := r.problems.sorted()
	if r.untold > 0 {
		told = append(told, Problem{Cause: fmt.Sprintf("there are %d problems more, which are told when these are repaired", r.untold)})
	}
	return told
}

// result returns the revision if there are no problems.
func (r *renderer) result(rev *Revision) (*Revision, error) {
	if told := r.told(); len(told) > 0 {
		return nil, told
	}
	rev.Warnings = r.warnings.sorted()
	return rev, nil
}

// distinct sorts the profiles and drops repetitions: two keys of the images
// ConfigMap may have the same reference.
func (r *renderer) distinct(profiles []Profile) []Profile {
	sorted := slices.Clone(profiles)
	slices.SortFunc(sorted, func(a, b Profile) int {
		return cmp.Or(cmp.Compare(a.Image, b.Image), cmp.Compare(a.Name, b.Name),
			slices.Compare(a.Metadata, b.Metadata), slices.Compare(a.Manifests, b.Manifests))
	})
	return slices.CompactFunc(sorted, func(a, b Profile) bool {
		if a.Image != b.Image || a.Name != b.Name {
			return false
		}
		if !slices.Equal(a.Metadata, b.Metadata) || !slices.Equal(a.Manifests, b.Manifests) {
			r.report(Problem{Image: b.Image, Profile: b.Name, Cause: "the profile is given twice with different content"})
		}
		return true
	})
}

// revision renders the chosen profiles in the order given.
func (r *renderer) revision(chosen []selected) *Revision {
	rev := &Revision{}
	for key, value := range r.substitutions {
		rev.Substitutions = append(rev.Substitutions, Substitution{Key: key, Value: value})
	}
	slices.SortFunc(rev.Substitutions, func(a, b Substitution) int { return cmp.Compare(a.Key, b.Key) })

	seen := map[identity]place{}
	for at, s := range chosen {
		objects, excepted := r.objects(at, s, seen)
		c := Component{
			Name: s.metadata.name, Image: s.Image, Profile: s.Name,
			Platform: s.metadata.platform, InstallOrder: s.metadata.installOrder, Attributes: s.metadata.attributes,
			ContentID: profileID(objects), Objects: objects,
		}
		for i, rules := range excepted {
			except(objects[i], rules)
		}
		if r.take != nil {
			r.take(at, c.Name, objects)
			c.Objects = nil
		}
		rev.Components = append(rev.Components, c)
	}
	rev.Unmanaged, rev.Nowhere = r.needs.rendered()
	var derived []requirement
	if !r.partial {
		derived = r.requirements(rev, r.namespace, seen)
	}
	r.checkLimits(rev)
	rev.ContentID = revisionID(rev, derived)
	r.hold(rev, derived)
	return rev
}

// hold adds to the revision what it derives.
func (r *renderer) hold(rev *Revision, derived []requirement) {
	shapes := []*unstructured.Unstructured{}
	for _, d := range derived {
		switch {
		case d.component < 0:
			shapes = append(shapes, d.object)
		case r.take != nil:
			r.take(d.component, rev.Components[d.component].Name, []*unstructured.Unstructured{d.object})
		default:
			c := &rev.Components[d.component]
			c.Objects = append(c.Objects, d.object)
		}
	}
	switch {
	case len(shapes) == 0:
	case r.take != nil:
		r.take(-1, RequirementsComponent, shapes)
	default:
		rev.Shapes = shapes
	}
}
