package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Exception lets one object of an image break one rule.
type Exception struct {
	// Name is by which people speak of it.
	Name string `json:"name"`
	// Reason says why it is there, for whoever reads it later.
	Reason string `json:"reason"`
	// Image is a reference by digest, or without its digest, which then stands for all images of the repository.
	Image string `json:"image"`
	// Rule is the name of the rule.
	Rule string `json:"rule"`
	// Object is the object as problems name it, without its version: Kind namespace/name, or Kind name. A kind that is not
	// one of Kinds, nor of the core group, has its group after a dot: Kind.group.
	Object string `json:"object"`
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

// ParseExceptions reads the exceptions of a ConfigMap: each value is one, and its key is its name. A value that is not
// wholly understood is an error: nobody would know what it was to allow. The exceptions are sorted by name.
func ParseExceptions(data map[string]string) ([]Exception, error) {
	var all []Exception
	var wrong []error
	for key, text := range data {
		e := Exception{Name: key}
		if err := yaml.UnmarshalStrict([]byte(text), &e); err != nil {
			wrong = append(wrong, fmt.Errorf("exception %s: %w", key, err))
			continue
		}
		for field, value := range map[string]string{"reason": e.Reason, "image": e.Image, "rule": e.Rule, "object": e.Object} {
			if value == "" {
				wrong = append(wrong, fmt.Errorf("exception %s: %s is missing", key, field))
			}
		}
		if e.Rule != "" && !slices.ContainsFunc(Rules, func(r Rule) bool { return r.Name == e.Rule }) {
			wrong = append(wrong, fmt.Errorf("exception %s: there is no rule %q", key, e.Rule))
		}
		if e.Name != key {
			wrong = append(wrong, fmt.Errorf("exception %s: its name is %q: leave it out", key, e.Name))
		}
		all = append(all, e)
	}
	if len(wrong) > 0 {
		slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		return nil, errors.Join(wrong...)
	}
	slices.SortFunc(all, func(a, b Exception) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}
