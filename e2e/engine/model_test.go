package engine_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/capstan-capi/capstan/phases/engine"
)

// variants is how many contents a slot has, counted from 0.
const variants = 3

// slot is a place for one object in the revisions of the property test.
type slot struct {
	component string
	of        string // the slot whose CRD defines the kind, empty for built-in kinds
	defines   bool   // it is a CRD
	make      func(w *world, variant int) *unstructured.Unstructured
	path      []string // of the one field that variants differ in, and that hands change
	theirs    any      // what hands put there
}

// slots are all the places. Two components have several classes each, so that waves, gates and teardown take part.
var slots = map[string]slot{
	"map-a":   configMapSlot("core", "a"),
	"map-b":   configMapSlot("later", "b"),
	"map-c":   configMapSlot("core", "c"),
	"crd-1":   crdSlot("gadget"),
	"crd-2":   markedSlot("gizmo"),
	"one-1":   instanceSlot("crd-1", "gadget"),
	"one-2":   instanceSlot("crd-2", "gizmo"),
	"secret":  secretSlot,
	"role":    roleSlot,
	"service": serviceSlot,
	"manager": managerSlot,
	"hook":    hookSlot,
}

var slotNames = slices.Sorted(maps.Keys(slots))

func configMapSlot(component, name string) slot {
	return slot{component: component, path: []string{"data"}, theirs: map[string]any{"key": "theirs", "even": "theirs", "odd": "theirs"}, make: func(w *world, v int) *unstructured.Unstructured {
		if v%2 == 0 {
			return w.configMap(name, "key", fmt.Sprint(v), "even", "yes")
		}
		return w.configMap(name, "key", fmt.Sprint(v), "odd", "yes")
	}}
}

func crdSlot(singular string) slot {
	path := []string{"spec", "names", "shortNames"}
	return slot{component: "core", defines: true, path: path, theirs: []any{singular + "-theirs"}, make: func(w *world, v int) *unstructured.Unstructured {
		if v == 0 {
			return w.crd(singular)
		}
		return with(w.crd(singular), []any{fmt.Sprintf("%s-%d", singular, v)}, path...)
	}}
}

// markedSlot is a definition whose variants differ in an annotation only, so that its kind stays served all the time.
func markedSlot(singular string) slot {
	path := []string{"metadata", "annotations", "variant"}
	return slot{component: "core", defines: true, path: path, theirs: "theirs", make: func(w *world, v int) *unstructured.Unstructured {
		return annotated(w.crd(singular), "variant", fmt.Sprint(v))
	}}
}

func instanceSlot(of, singular string) slot {
	path := []string{"spec"}
	return slot{component: "later", of: of, path: path, theirs: map[string]any{"size": int64(99)}, make: func(w *world, v int) *unstructured.Unstructured {
		return with(w.instance(singular, "ours"), map[string]any{"size": int64(v)}, path...)
	}}
}

var secretSlot = slot{
	component: "later", path: []string{"data"}, theirs: map[string]any{"word": "dGhlaXJz"},
	make: func(w *world, v int) *unstructured.Unstructured {
		word := base64.StdEncoding.EncodeToString([]byte(fmt.Sprint(v)))
		return with(w.object(`{apiVersion: v1, kind: Secret, metadata: {namespace: $NS, name: secret}}`), word, "data", "word")
	},
}

var roleSlot = slot{
	component: "core", path: []string{"rules"},
	theirs: []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"pods"}, "verbs": []any{"get"}}},
	make: func(w *world, v int) *unstructured.Unstructured {
		verbs := []any{"get", "list", "watch"}[:v+1]
		rule := map[string]any{"apiGroups": []any{""}, "resources": []any{"configmaps"}, "verbs": verbs}
		return with(w.clusterRole("role"), []any{rule}, "rules")
	},
}

var serviceSlot = slot{
	component: "core", path: []string{"spec", "selector"}, theirs: map[string]any{"app": "theirs"},
	make: func(w *world, v int) *unstructured.Unstructured {
		return with(w.service("manager"), map[string]any{"app": fmt.Sprint("app-", v)}, "spec", "selector")
	},
}

var managerSlot = slot{
	component: "core", path: []string{"spec", "replicas"}, theirs: int64(0),
	make: func(w *world, v int) *unstructured.Unstructured {
		return with(w.deployment("manager"), int64(v), "spec", "replicas")
	},
}

var hookSlot = slot{
	component: "core", path: []string{"webhooks"},
	make: func(w *world, v int) *unstructured.Unstructured {
		hook := w.webhook("hook")
		first := field(hook, "webhooks").([]any)[0].(map[string]any)
		first["failurePolicy"], first["timeoutSeconds"] = "Ignore", int64(v+1)
		first["matchPolicy"], first["namespaceSelector"], first["objectSelector"] = "Equivalent", map[string]any{}, map[string]any{}
		rule := first["rules"].([]any)[0].(map[string]any)
		rule["apiGroups"], rule["scope"] = []any{"none." + w.group}, "*"
		return hook
	},
}

// content is what a revision has: the variants of its slots.
type content map[string]int

// object is the object of a slot in its variant.
func (c content) object(w *world, name string) *unstructured.Unstructured {
	return slots[name].make(w, c[name])
}

// revision puts the content into components.
func (c content) revision(w *world, number int64) *engine.Revision {
	objects := map[string][]*unstructured.Unstructured{}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		objects[slots[name].component] = append(objects[slots[name].component], c.object(w, name))
	}
	return revision(number, component("core", objects["core"]...), component("later", objects["later"]...))
}

func (c content) String() string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		texts = append(texts, fmt.Sprintf("%s:%d", name, c[name]))
	}
	return strings.Join(texts, " ")
}

// drawNext is the content of the next release: a former one again, sooner if the present one was not taken to its end,
// or the present one with a few changes. Most changes meet slots that something has happened to, and drop them: what
// becomes of them is decided there.
func (l *trial) drawNext() content {
	if l.desired != l.former && l.former != nil && rapid.IntRange(0, 2).Draw(l.t, "back to the last") == 0 {
		return maps.Clone(l.past[len(l.past)-1])
	}
	if len(l.past) > 1 && rapid.IntRange(0, 5).Draw(l.t, "back") == 0 {
		return maps.Clone(rapid.SampledFrom(l.past).Draw(l.t, "to"))
	}
	next, fewest := maps.Clone(l.current), 1
	if l.desired == nil {
		fewest = 3
		next[rapid.SampledFrom([]string{"crd-1", "crd-2"}).Draw(l.t, "definition")] = 0
	}
	for range rapid.IntRange(fewest, fewest+2).Draw(l.t, "changes") {
		touched := slices.DeleteFunc(slices.Sorted(maps.Keys(l.touched)), func(name string) bool { return !next.has(name) })
		if estranged := l.memory.inTheWay(next); len(estranged) > 0 {
			touched = estranged
		}
		if len(touched) > 0 && rapid.IntRange(0, 2).Draw(l.t, "touched") > 0 {
			next.change(l.t, rapid.SampledFrom(touched).Draw(l.t, "slot"), 1)
		} else {
			next.change(l.t, rapid.SampledFrom(slotNames).Draw(l.t, "slot"), 2)
		}
	}
	return next
}

func (c content) has(name string) bool {
	_, has := c[name]
	return has
}

// change adds a slot, or drops or varies the one that is there; it is varied in so many cases out of four. An instance
// comes with its definition and goes with it.
func (c content) change(t *rapid.T, name string, varied int) {
	was, has := c[name]
	switch {
	case !has:
		c[name] = rapid.IntRange(0, variants-1).Draw(t, "variant")
		if of := slots[name].of; of != "" {
			c[of] += 0
		}
	case rapid.IntRange(0, 3).Draw(t, "varied") < varied:
		c[name] = (was + rapid.IntRange(1, variants-1).Draw(t, "by")) % variants
	default:
		delete(c, name)
		maps.DeleteFunc(c, func(other string, _ int) bool { return slots[other].of == name })
	}
}
