package privatecapi

import (
	"slices"
	"strings"
)

const (
	// kubeconfigVariable is where client-go looks for the file that leads to an API server.
	kubeconfigVariable = "KUBECONFIG"
	// keptAs ends the name that a variable of a container's own has while the proxy takes its place. It stays where it stood, right before
	// the proxy's, since a variable refers to those that stand before it, and comes back though all else that is noted of a move is lost.
	keptAs = "_WITHOUT_PROXY"
)

// point has a container look for what the proxy writes.
func point(container map[string]any) {
	take(container, kubeconfigVariable, KubeconfigPath)
	mounts, _ := container["volumeMounts"].([]any)
	container["volumeMounts"] = append(slices.Clip(mounts), map[string]any{"name": kubeconfigVolume, "mountPath": kubeconfigFolder, "readOnly": true})
}

// looks says that a container looks for what the proxy writes: by its environment, or by a flag, which counts before that. mounts says
// that it has the folder, and isPointed that it finds the file, thus.
func looks(container map[string]any) bool {
	return itemOf(container, "env", kubeconfigVariable)["value"] == KubeconfigPath ||
		slices.ContainsFunc([]string{"command", "args"}, func(field string) bool {
			words, _ := container[field].([]any)
			return slices.ContainsFunc(words, namesFile)
		})
}

func mounts(container map[string]any) bool {
	return itemOf(container, "volumeMounts", kubeconfigVolume) != nil
}

func isPointed(container map[string]any) bool { return looks(container) && mounts(container) }

// namesFile says that a word of a command is the file that the proxy writes, or a flag that has it as its value.
func namesFile(word any) bool {
	text, _ := word.(string)
	return text == KubeconfigPath || strings.HasPrefix(text, "-") && strings.HasSuffix(text, "="+KubeconfigPath)
}

// withoutFile are the words of a command without the file that the proxy writes, and without the flag that is given it.
func withoutFile(words []any) []any {
	var left []any
	for _, word := range words {
		if !namesFile(word) {
			left = append(left, word)
			continue
		}
		if n := len(left) - 1; n >= 0 && word == KubeconfigPath {
			if flag, _ := left[n].(string); strings.HasPrefix(flag, "-") && !strings.Contains(flag, "=") {
				left = left[:n]
			}
		}
	}
	return left
}

// take has a variable of a container be what the proxy needs, and keeps one of the container's own under another name, and one that has
// that name already under a longer one.
func take(container map[string]any, name, value string) {
	own, _ := container["env"].([]any)
	taken := map[string]any{"name": name, "value": value}
	var env []any
	is := false
	for _, item := range own {
		one, _ := item.(map[string]any)
		text, _ := one["name"].(string)
		if !isKept(text, name) {
			env = append(env, item)
			continue
		}
		env = append(env, renamedTo(one, text+keptAs))
		if text == name && !is {
			env, is = append(env, taken), true
		}
	}
	if !is {
		env = append(env, taken)
	}
	container["env"] = env
}

// isKept says that a name is that of a variable, or the one under which that is kept, or this one is, and so on.
func isKept(name, of string) bool {
	rest, is := strings.CutPrefix(name, of)
	return is && strings.ReplaceAll(rest, keptAs, "") == ""
}

// givenBack is an environment without what the proxy takes, and with what is kept of the container's own. Where the container has its own
// already, the proxy has never taken it.
func givenBack(env []any) []any {
	env = slices.DeleteFunc(slices.Clone(env), isTaken)
	left := map[string]any{"env": slices.Clone(env)}
	for i := range env {
		one, _ := env[i].(map[string]any)
		name, _ := one["name"].(string)
		before, kept := strings.CutSuffix(name, keptAs)
		for _, own := range []string{kubeconfigVariable, equippedBy} {
			if kept && isKept(before, own) && itemOf(left, "env", own) == nil {
				env[i] = renamedTo(one, before)
			}
		}
	}
	return env
}

// isTaken says that a variable is one that the proxy has taken.
func isTaken(item any) bool {
	one, _ := item.(map[string]any)
	return one["name"] == kubeconfigVariable && one["value"] == KubeconfigPath || one["name"] == equippedBy && one["value"] == "true"
}

func renamedTo(item map[string]any, name string) map[string]any {
	out, _ := cloned(item).(map[string]any)
	out["name"] = name
	return out
}

// containersOf are the containers of a list of a Pod's.
func containersOf(spec map[string]any, list string) []map[string]any {
	items, _ := spec[list].([]any)
	var all []map[string]any
	for i := range items {
		if container, is := items[i].(map[string]any); is {
			all = append(all, container)
		}
	}
	return all
}

// allOf are all containers of a Pod, those first that run before the others.
func allOf(spec map[string]any) []map[string]any {
	return slices.Concat(containersOf(spec, "initContainers"), containersOf(spec, "containers"))
}

// itemOf is the last item of a list that has a name, which counts where there are several; nil for none.
func itemOf(in map[string]any, list, name string) map[string]any {
	items, _ := in[list].([]any)
	for i := range slices.Backward(items) {
		if one, _ := items[i].(map[string]any); one["name"] == name {
			return one
		}
	}
	return nil
}

// without are the items of a list that do not have a name.
func without(list []any, name string) []any {
	return slices.DeleteFunc(slices.Clone(list), func(item any) bool {
		one, _ := item.(map[string]any)
		return one["name"] == name
	})
}
