package policy

import (
	"errors"
	"fmt"
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
	// Object is the object as problems name it, without its version: Kind namespace/name, or Kind name. A kind that is not
	// one of Kinds, nor of the core group, has its group after a dot: Kind.group.
	Object string
}

func (e Exception) covers(image, rule string, o *unstructured.Unstructured) bool {
	repository, _, _ := strings.Cut(image, "@")
	return e.Rule == rule && (e.Image == image || e.Image == repository) && slices.Contains(called(o), e.Object)
}

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
	if e.Rule != "" && !slices.ContainsFunc(Rules, func(r Rule) bool { return r.Name == e.Rule }) {
		faults = append(faults, fmt.Sprintf("there is no rule %q", e.Rule))
	}
	return e, faults
}
