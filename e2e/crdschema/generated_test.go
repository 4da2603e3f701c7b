package crdschema_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// values are what a field may be given: the first half of them are good, the others are bad, or null, or have what judged does
// not know.
var values = map[string][]string{
	"size": {"s", "m", "xl", "null"}, "low": {"1", "4", "5", "-1", "x"}, "high": {"4", "8", "9", "1.5"}, "either": {"a"}, "or": {"b", "null"},
	"fixed": {"a", "b", "toolong"}, "grows": {"1", "2", "3", "x"}, "born": {"new", "old"}, "replicas": {"1", "2", "-1", "4294967296", "x"},
	"when": {"'2026-01-02T03:04:05Z'", "today"}, "pattern": {"abc", "ABC"}, "amount": {"5", "5%", "much", "{}"},
	"defaulted": {"{}", "{x: a}", "{x: null}", "{n: null}", "{x: 1}", "null", "{u: 1}"},
	"names":     {"[a, b]", "[b]", "[a, a]", "['']", "[a, b, c, d]"},
	"ports":     {"[{name: a, port: 1}]", "[{name: b, kept: x}, {name: a}]", "[{name: b, kept: y}]", "[{name: a, port: 0}, {name: b, kept: x}]", "[{name: a}, {name: a}]", "[{port: 1}]", "[{name: a, u: 1}]"},
	"plain":     {"[{a: x}]", "[{a: xy}, {a: x}]", "[{a: xyz}, {a: x, u: 1}]", "[{}]", "[{a: x}, {a: xyz}]"},
	"labels":    {"{a: b}", "{c: d}", "{a: bcde, c: d}", "{a: 1}", "{a: null}"}, "nested": {"{a: xy}", "{a: xyz, u: {v: 1}}", "{b: x}", "{a: x, b: z}"},
	"free":     {"{known: 1, u: 2}", "{u: {v: [1]}}", "{known: x}"},
	"template": {"{apiVersion: v1, kind: Pod, metadata: {name: a}}", "{apiVersion: v1, kind: Pod, metadata: {nonsense: x}}", "{apiVersion: v1, kind: Pod}", "{kind: Pod}", "{apiVersion: v1, kind: Pod, metadata: {labels: {'-': x}}}", "{apiVersion: v1, kind: 1}"},
	"unknown":  {"1", "{a: {b: c}}", "[{a: 1}]"},
}

var statusValues = map[string][]string{
	"phase": {"Up", "Down", "Sideways"}, "replicas": {"1", "2", "6", "-1", "x"}, "selector": {"a=b", "1"}, "steps": {"1", "2", "3", "x"},
	"list": {"[1, 2]", "[1, 1]", "[x]"}, "unknown": {"1", "{a: 1}"},
}

// generator makes up objects, the same ones for the same seed.
type generator struct {
	t *testing.T
	*rand.Rand
}

func generate(t *testing.T, seed uint64) generator {
	return generator{t: t, Rand: rand.New(rand.NewPCG(seed, 13))} //nolint:gosec // the same ones in every run
}

// fields gives a map other values in some of its fields, and takes some away. In most objects all are good, so that rules are
// asked: of others the API server asks none.
func (g generator) fields(in map[string]any, of map[string][]string, share float64) {
	bold := g.IntN(3) == 0
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if g.Float64() > share {
			continue
		}
		if g.IntN(4) == 0 {
			delete(in, name)
			continue
		}
		choice := of[name]
		if !bold {
			choice = choice[:(len(choice)+1)/2]
		}
		var value any
		if err := yaml.Unmarshal([]byte(choice[g.IntN(len(choice))]), &value); err != nil {
			g.t.Fatal(err)
		}
		in[name] = value
	}
}

// object makes one up.
func (g generator) object(name string) *unstructured.Unstructured {
	spec := map[string]any{"size": "s"}
	g.fields(spec, values, 0.4)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Judged", "metadata": map[string]any{"name": name, "namespace": "default"}, "spec": spec,
	}}
	switch g.IntN(20) {
	case 0:
		delete(object.Object, "spec")
	case 1:
		object.Object["unknown"] = "x"
	case 2:
		object.Object["spec"] = "x"
	}
	g.status(object)
	return g.plain(object)
}

func (g generator) status(object *unstructured.Unstructured) {
	status, _ := object.Object["status"].(map[string]any)
	if status == nil {
		status = map[string]any{}
	}
	g.fields(status, statusValues, 0.5)
	object.Object["status"] = status
}

// changed is an object with some fields changed, or with none but a label.
func (g generator) changed(object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	if g.IntN(6) > 0 {
		if spec, ok := object.Object["spec"].(map[string]any); ok {
			g.fields(spec, values, 0.15)
		}
		g.status(object)
	}
	labels := map[string]string{"seen": "yes"}
	if g.IntN(15) == 0 {
		labels["-"] = "bad"
	}
	object.SetLabels(labels)
	return g.plain(object)
}

// plain is an object as it comes out of JSON.
func (g generator) plain(object *unstructured.Unstructured) *unstructured.Unstructured {
	text, err := object.MarshalJSON()
	if err != nil {
		g.t.Fatal(err)
	}
	read := &unstructured.Unstructured{}
	if err := read.UnmarshalJSON(text); err != nil {
		g.t.Fatal(err)
	}
	return read
}
