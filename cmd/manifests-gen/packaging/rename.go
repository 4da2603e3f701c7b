package packaging

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// renamed is one object under its new name.
type renamed struct {
	from identity
	to   string
	// references counts the references that were changed.
	references int
}

// rename gives objects new names, and changes every reference to them. Objects
// are changed in place; all names are changed at once, so that two can be swapped.
func rename(objects []*unstructured.Unstructured, names map[identity]string) ([]renamed, error) {
	r := renaming{names: names, references: map[identity]int{}}
	found := map[identity]bool{}
	for _, object := range objects {
		if err := r.follow(object); err != nil {
			return nil, err
		}
	}
	for _, object := range objects {
		id := identityOf(object)
		if to, listed := names[id]; listed {
			found[id] = true
			object.SetName(to)
		}
	}
	var done []renamed
	for _, from := range slices.SortedFunc(maps.Keys(names), compareIdentities) {
		if !found[from] {
			return nil, fmt.Errorf("ConfigMap %s: there is no %s of group %q to rename%s", renameSettings, from, from.group, r.others(from, objects))
		}
		done = append(done, renamed{from: from, to: names[from], references: r.references[from]})
	}
	return done, nil
}

func compareIdentities(a, b identity) int {
	return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
}

type renaming struct {
	names      map[identity]string
	references map[identity]int
}

// others lists the names of the objects of that kind.
func (r renaming) others(missing identity, objects []*unstructured.Unstructured) string {
	var names []string
	for _, object := range objects {
		if isKind(object, missing.group, missing.kind) {
			names = append(names, object.GetName())
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return "; those of that kind are " + strings.Join(names, ", ")
}

// follow changes the references in an object.
func (r renaming) follow(object *unstructured.Unstructured) error {
	if isKind(object, rbac, "ClusterRole") || isKind(object, rbac, "Role") {
		return root(object).each("rules[]", r.followRule)
	}
	pod, found, err := podSpec(object)
	if err != nil {
		return err
	}
	if found {
		if err := r.followAll(pod, podReferences); err != nil {
			return err
		}
	}
	return r.followAll(root(object), references[object.GroupVersionKind().GroupKind()])
}

func (r renaming) followAll(from node, all []reference) error {
	for _, ref := range all {
		err := from.each(ref.path, func(holder node) error {
			name, err := holder.text(ref.field)
			if err != nil {
				return err
			}
			target := ref.to
			if target == (schema.GroupKind{}) {
				target = typed(holder)
			}
			id := identity{group: target.Group, kind: target.Kind, name: name}
			if to, listed := r.names[id]; listed {
				holder.fields[ref.field] = to
				r.references[id]++
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// followRule changes the resourceNames of a role's rule. A rule that is also
// for other resources keeps the old name for those.
func (r renaming) followRule(rule node) error {
	names, err := rule.texts("resourceNames")
	if err != nil || len(names) == 0 {
		return err
	}
	groups, err := rule.texts("apiGroups")
	if err != nil {
		return err
	}
	resources, err := rule.texts("resources")
	if err != nil {
		return err
	}
	var out []string
	for _, name := range names {
		followed, shared := r.ruleNames(name, groups, resources)
		if len(followed) == 0 || shared {
			out = append(out, name)
		}
		out = append(out, followed...)
	}
	rule.fields["resourceNames"] = anys(out)
	return nil
}

// ruleNames returns the new names of what a rule names. shared reports that the
// rule is for other resources as well.
func (r renaming) ruleNames(name string, groups, resources []string) (followed []string, shared bool) {
	for _, id := range slices.SortedFunc(maps.Keys(r.names), compareIdentities) {
		plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: id.group, Kind: id.kind})
		isPlural := func(resource string) bool {
			base, _, _ := strings.Cut(resource, "/")
			return base == plural.Resource
		}
		if id.name != name || !slices.ContainsFunc(resources, isPlural) || !slices.Contains(groups, id.group) {
			continue
		}
		followed = append(followed, r.names[id])
		r.references[id]++
		shared = shared || len(groups) > 1 || slices.ContainsFunc(resources, func(resource string) bool { return !isPlural(resource) })
	}
	return followed, shared
}
