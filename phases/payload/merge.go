package payload

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Merge makes one object of all that are the same one: fields that only one of them has are taken from it, fields that several
// have must be equal, and so must lists. It is written to the first of their files. The order that they are given in has no
// meaning. What cannot be merged is refused by an InputsError that names all places.
func Merge(all []Placed) ([]Placed, error) {
	groups := map[string][]Placed{}
	for _, p := range all {
		groups[identity(p.Object)] = append(groups[identity(p.Object)], p)
	}
	var merged []Placed
	var problems InputsError
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		one, contradicted := mergeGroup(groups[name])
		if len(contradicted) > 0 {
			problems.add(strings.Join(one.From, " and "), "%s is in each of these places, with other values of %s; keep one, or make them agree",
				name, strings.Join(contradicted, ", "))
			continue
		}
		merged = append(merged, one)
	}
	if err := problems.err(); err != nil {
		return nil, err
	}
	slices.SortFunc(merged, func(a, b Placed) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(identity(a.Object), identity(b.Object)))
	})
	return merged, nil
}

// mergeGroup returns the one object, and the fields at which the given ones contradict each other.
func mergeGroup(group []Placed) (one Placed, contradicted []string) {
	one = Placed{Path: group[0].Path}
	for _, p := range group {
		one.Path = min(one.Path, p.Path)
		one.From = append(one.From, p.From...)
	}
	slices.Sort(one.From)
	one.From = slices.Compact(one.From)
	// Which fields are named must not depend on the order either, where one place has a text and another one fields.
	slices.SortFunc(group, func(a, b Placed) int { return cmp.Compare(written(a), written(b)) })
	content := group[0].Object.DeepCopy().Object
	for _, p := range group[1:] {
		contradicted = append(contradicted, unite("", content, p.Object.DeepCopy().Object)...)
	}
	slices.Sort(contradicted)
	one.Object = &unstructured.Unstructured{Object: content}
	return one, slices.Compact(contradicted)
}

// unite adds to a tree what another one has, and returns the fields that both have with different values.
func unite(at string, into, from map[string]any) []string {
	var contradicted []string
	for _, name := range slices.Sorted(maps.Keys(from)) {
		had, has := into[name]
		if !has {
			into[name] = from[name]
			continue
		}
		inner, isMap := had.(map[string]any)
		other, otherIsMap := from[name].(map[string]any)
		switch {
		case isMap && otherIsMap:
			contradicted = append(contradicted, unite(join(at, name), inner, other)...)
		case !reflect.DeepEqual(had, from[name]):
			contradicted = append(contradicted, join(at, name))
		}
	}
	return contradicted
}

// identity is what an object is named by in messages. Its version does not belong to it.
func identity(object *unstructured.Unstructured) string {
	kind := object.GetKind()
	if group := object.GroupVersionKind().Group; group != "" {
		kind += "." + group
	}
	if namespace := object.GetNamespace(); namespace != "" {
		return kind + " " + namespace + "/" + object.GetName()
	}
	return kind + " " + object.GetName()
}

func written(p Placed) string {
	text, err := p.Object.MarshalJSON()
	if err != nil {
		return ""
	}
	return string(text)
}
