package golden

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Images is a set of images that are known to be releases' own.
type Images map[string]struct{}

// Knows says that an image is in the set.
func (i Images) Knows(image string) bool {
	_, known := i[normal(image)]
	return known
}

// Listed are the images in the values of a ConfigMap, one a line. A line that begins with # is a remark, one that is too long is
// no image.
func Listed(data map[string]string) Images {
	images := Images{}
	for _, lines := range data {
		for line := range strings.Lines(lines) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' && len(line) <= maxValue {
				images[normal(line)] = struct{}{}
			}
		}
	}
	return images
}

// AnyOf knows what one of several knows; those that are nil know nothing.
type AnyOf []Provenance

// Knows says that one of them knows the image.
func (a AnyOf) Knows(image string) bool {
	return slices.ContainsFunc(a, func(p Provenance) bool { return p != nil && p.Knows(image) })
}

// normal is one spelling of those that an image has.
func normal(image string) string {
	if project, name, ok := parseGCP(image); ok {
		return gcpImage(project, name)
	}
	return image
}

// adopted says that the target's annotation names an image.
func (t *Target) adopted(image string) bool {
	for listed := range strings.SplitSeq(t.Annotations[AdoptAnnotation], ",") {
		if listed = strings.TrimSpace(listed); listed != "" && normal(listed) == normal(image) {
			return true
		}
	}
	return false
}

// foreign is an error if an image is not known to be a release's own. One image is enough to leave the target alone.
func (c *Cluster) foreign(t *Target, slots []slot) error {
	var foreign []string
	for _, s := range slots {
		if s.right || s.own || t.adopted(s.present) || c.Provenance != nil && c.Provenance.Knows(s.present) {
			continue
		}
		foreign = append(foreign, s.present)
	}
	if len(foreign) == 0 {
		return nil
	}
	foreign = slices.Compact(slices.Sorted(slices.Values(foreign)))
	list := strings.Join(foreign, ",")
	return &skipError{reason: Foreign, text: "not known to be a release's own: " + list, remedy: t.annotate(AdoptAnnotation, list)}
}

// harmless are values that a shell takes as they are inside of quotes; what is longer would be cut.
var harmless = regexp.MustCompile(`^[A-Za-z0-9 ._:/,()@+-]{1,512}$`)

// annotate is the command that puts an annotation on the target. Names and images are other people's texts, and a command is
// something that people paste.
func (t *Target) annotate(annotation, value string) string {
	if !harmless.MatchString(value) || !harmless.MatchString(t.Name) || !harmless.MatchString(t.Namespace) {
		return fmt.Sprintf("annotate it with %s, its value being the present image", annotation)
	}
	return fmt.Sprintf("oc annotate -n %s %s %s --overwrite '%s=%s'", t.Namespace, t.Kind, t.Name, annotation, value)
}
