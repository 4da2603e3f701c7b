package policy

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Exception lets one object of an image break one rule.
type Exception struct {
	// Name is by which people speak of it: the key of the ConfigMap.
	Name string
	// Reason says why it is there, for whoever reads it later.
	Reason string
	// Image is a reference by digest, or without its digest, which then stands for all images of the repository.
	Image string
	// Rule is the name of the rule.
	Rule string
	// Object is the object as breaches name it, see Name.
	Object string
}

func (e Exception) covers(image, rule string, o *unstructured.Unstructured) bool {
	return e.Rule == rule && e.isFor(image) && slices.Contains(called(o), e.Object)
}

// isFor says that it is for an image, whatever else it is for.
func (e Exception) isFor(image string) bool {
	repository, _, _ := strings.Cut(image, "@")
	return e.Image == image || e.Image == repository
}

// maxMisses bounds how many exceptions are told that nearly cover a breach.
const maxMisses = 2

// misses says of exceptions that look as if they were for a breach why they are not.
func (c check) misses(image, rule string) (why string) {
	told := 0
	for _, e := range c.Exceptions {
		isImage, isRule, isObject := e.isFor(image), e.Rule == rule, slices.Contains(called(c.object), e.Object)
		switch {
		case told == maxMisses:
			return why
		case isRule && isObject:
			why += fmt.Sprintf("; exception %s is for image %s, not for this one", e.Name, e.Image)
		case isImage && isObject:
			why += fmt.Sprintf("; exception %s is for rule %s, not for this one", e.Name, e.Rule)
		case isImage && isRule && !c.names[e.Object]:
			why += fmt.Sprintf("; exception %s is for %s, which this profile does not have", e.Name, e.Object)
		default:
			continue
		}
		told++
	}
	return why
}

// Name is the name by which an exception calls an object: Kind namespace/name, or Kind name. A kind that is not one of Kinds,
// nor of the core group, has its group after a dot: Kind.group.
func Name(o *unstructured.Unstructured) string { return called(o)[0] }

// called are the names by which an exception may call an object. A kind without its group is only that which everybody knows
// by this name: any image can bring another one.
func called(o *unstructured.Unstructured) (names []string) {
	gvk, name := o.GroupVersionKind(), strings.Trim(o.GetNamespace()+"/"+o.GetName(), "/")
	if _, known := Kinds[kindOf(o)]; known || gvk.Group == "" {
		names = append(names, gvk.Kind+" "+name)
	}
	if gvk.Group != "" {
		names = append(names, gvk.Kind+"."+gvk.Group+" "+name)
	}
	return names
}

// ParseExceptions reads the exceptions of a ConfigMap: each value is one, and its key is its name. A value has a line for each
// field, "rule: permission", and lines that begin with # are for people. It is read by an API server, too, which reads lines
// and no YAML. A value that is not wholly understood is an error: nobody would know what it was to allow. The exceptions are
// sorted by name.
func ParseExceptions(data map[string]string) ([]Exception, error) {
	var all []Exception
	var wrong []error
	for _, key := range sortedKeys(data) {
		e, faults := parseException(key, data[key])
		for _, fault := range faults {
			wrong = append(wrong, fmt.Errorf("exception %s: %s", key, fault))
		}
		all = append(all, e)
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return all, nil
}

// reference is a repository without a tag, with a digest or without one.
var reference = regexp.MustCompile(`^([^\s@:/]+(:[0-9]+)?/)?([^\s@:/]+/)*[^\s@:/]+(@sha256:[0-9a-f]{64})?$`)

func parseException(name, text string) (e Exception, faults []string) {
	e.Name = name
	fields := map[string]*string{"reason": &e.Reason, "image": &e.Image, "rule": &e.Rule, "object": &e.Object}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		field, value, _ := strings.Cut(line, ": ")
		switch into := fields[field]; {
		case into == nil:
			faults = append(faults, fmt.Sprintf("line %q is not one of reason, image, rule or object, a colon, a space and the value", line))
		case strings.ContainsAny(value[:min(1, len(value))], "'\"|>{["):
			faults = append(faults, fmt.Sprintf("%s begins with %q: write the value plainly, on one line and without quotes", field, value[:1]))
			*into = value
		case *into != "":
			faults = append(faults, field+" is there twice")
		default:
			*into = value
		}
	}
	for _, field := range sortedKeys(fields) {
		if *fields[field] == "" {
			faults = append(faults, field+" is missing")
		}
	}
	if words := strings.Split(e.Object, " "); e.Object != "" && (len(words) != 2 || words[0] == "" || words[1] == "" || strings.Contains(words[0], "/")) {
		faults = append(faults, fmt.Sprintf(
			"object %q is not of the form Kind name, Kind namespace/name or Kind.group namespace/name: write it as the refusal does, without a version", e.Object))
	}
	if e.Image != "" && !reference.MatchString(e.Image) {
		faults = append(faults, fmt.Sprintf("image %q is neither a repository nor a reference by digest: write it without tag and spaces", e.Image))
	}
	if e.Rule != "" && !slices.ContainsFunc(Rules, func(r Rule) bool { return r.Name == e.Rule }) {
		faults = append(faults, fmt.Sprintf("there is no rule %q", e.Rule))
	}
	return e, faults
}
