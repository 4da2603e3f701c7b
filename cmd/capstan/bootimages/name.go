package bootimages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/machine"
	phasesgate "github.com/capstan-capi/capstan/phases/bootgate"
	"github.com/capstan-capi/capstan/phases/golden"
)

// shorts are short names of kinds, beside those that begin their whole ones.
var shorts = map[string]string{"ms": "machinesets", "md": "machinedeployments", "cpms": "controlplanemachinesets"}

// Name finds the target that a person means: KIND/NAME, where the kind may be short, or the name alone.
func (l *Look) Name(text string) (machine.Key, error) {
	kind, name, slashed := strings.Cut(text, "/")
	if !slashed {
		kind, name = "", text
	}
	if name == "" || strings.Contains(name, "/") {
		return "", &inspect.Error{What: fmt.Sprintf("%q names no target", text), Next: "name one as KIND/NAME, such as machinesets.cluster.x-k8s.io/worker"}
	}
	kinds := kindsOf(kind)
	if len(kinds) == 0 {
		return "", &inspect.Error{What: fmt.Sprintf("boot images are not those of %q", kind), Next: "name one of these kinds: " + strings.Join(texts(allKinds), ", ")}
	}
	if looked := slices.DeleteFunc(slices.Clone(kinds), func(k golden.Kind) bool { return !l.looksAfter(apiOf(k)) }); len(looked) == 0 {
		return "", &inspect.Error{
			What: fmt.Sprintf("the operator moves no boot images of %s: it runs with --boot-images=%s", apiOf(kinds[0]), strings.Join(l.Settings.APIs, ",")),
			Next: "name a target of that, or have the operator run with another --boot-images",
		}
	}
	var found, others []string
	for _, t := range l.targets {
		of, called, _ := strings.Cut(string(t.key), "/")
		switch is := slices.Contains(kinds, golden.Kind(of)); {
		case is && called == name:
			found = append(found, string(t.key))
		default:
			others = append(others, string(t.key))
		}
	}
	switch {
	case len(found) == 1:
		return machine.Key(found[0]), nil
	case len(found) > 1:
		return "", &inspect.Error{What: text + " is ambiguous", Next: "name one of these: " + strings.Join(found, ", ")}
	case len(others) == 0:
		return "", &inspect.Error{What: text + " does not exist, and there is no target on this cluster of --boot-images=" + strings.Join(l.Settings.APIs, ",")}
	}
	return "", &inspect.Error{What: text + " does not exist", Next: "near it are: " + few(near(name, others))}
}

// Keys are those of all targets, each of which Name finds.
func (l *Look) Keys() []string {
	var keys []string
	for _, t := range l.targets {
		keys = append(keys, string(t.key))
	}
	return keys
}

var allKinds = []golden.Kind{golden.CAPIMachineSets, golden.MachineDeployments, golden.MachineSets, golden.ControlPlaneMachineSets}

// kindsOf are the kinds that a word may mean: all for none.
func kindsOf(word string) []golden.Kind {
	word = strings.ToLower(word)
	resource, group, _ := strings.Cut(word, ".")
	resource = cmp.Or(shorts[resource], resource)
	var kinds []golden.Kind
	for _, kind := range allKinds {
		of, in, _ := strings.Cut(string(kind), ".")
		if (resource == "" || resource == of || resource+"s" == of) && (group == "" || group == in) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func apiOf(kind golden.Kind) string {
	api, _ := phasesgate.KindOf(kind)
	return api
}

func texts(kinds []golden.Kind) (all []string) {
	for _, kind := range kinds {
		all = append(all, string(kind))
	}
	return all
}

// near are keys, those first whose names differ least from one.
func near(name string, keys []string) []string {
	far := func(key string) int {
		_, called, _ := strings.Cut(key, "/")
		if strings.Contains(called, name) || strings.Contains(name, called) {
			return 0
		}
		return distance(name, called)
	}
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(far(a), far(b)) })
	return keys
}

// distance is how many letters have to come, go or change to make one text of another.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0]++
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
