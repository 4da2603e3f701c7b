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
	"crd-2":   crdSlot("gizmo"),
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
	return slot{component: "core", path: path, theirs: []any{singular + "-theirs"}, make: func(w *world, v int) *unstructured.Unstructured {
		if v == 0 {
			return w.crd(singular)
		}
		return with(w.crd(singular), []any{fmt.Sprintf("%s-%d", singular, v)}, path...)
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
		hook := w.webhook("hook", "manager")
		first := field(hook, "webhooks").([]any)[0].(map[string]any)
		first["failurePolicy"], first["timeoutSeconds"] = "Ignore", int64(v+1)
		first["matchPolicy"], first["namespaceSelector"], first["objectSelector"] = "Equivalent", map[string]any{}, map[string]any{}
		first["clientConfig"].(map[string]any)["service"].(map[string]any)["port"] = int64(443)
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

// drawChanged is a content that came from another one by a few changes. An instance needs its definition.
func (c content) drawChanged(t *rapid.T) content {
	next := maps.Clone(c)
	for range rapid.IntRange(1, 6).Draw(t, "changes") {
		name := rapid.SampledFrom(slotNames).Draw(t, "slot")
		if v := rapid.IntRange(-1, variants-1).Draw(t, "variant"); v >= 0 {
			next[name] = v
		} else {
			delete(next, name)
		}
	}
	for _, name := range slotNames {
		if of := slots[name].of; of != "" {
			if _, defined := next[of]; !defined {
				delete(next, name)
			}
		}
	}
	return next
}
