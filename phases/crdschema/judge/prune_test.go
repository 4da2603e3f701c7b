package judge_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/capstan-capi/capstan/phases/crdschema/judge"
)

const (
	knownSpec   = `{type: object, properties: {a: {type: string}, p: {type: object, properties: {a: {type: string}}}, l: {type: array, items: {type: object, properties: {a: {type: string}}}}, k: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}, a: {type: string}}}}, free: {type: object, x-kubernetes-preserve-unknown-fields: true}, m: {type: object, additionalProperties: {type: object, properties: {a: {type: string}}}}}}`
	knownStatus = `{type: object, properties: {a: {type: string}}}`
)

func TestPrune_takes_unknown_fields_and_says_which(t *testing.T) {
	j := compiled(t, definition(knownSpec, knownStatus))
	for name, c := range map[string]struct {
		now, before, subresource string
		want                     []string
		left                     string
	}{
		"nothing unknown":                  {now: "spec: {a: x, free: {x: 1}}", left: "spec: {a: x, free: {x: 1}}"},
		"at any depth":                     {now: "spec: {a: x, u: 1, p: {a: x, u: {v: 1}}, l: [{a: x}, {u: 1}], m: {k: {a: x, u: 1}}}", want: []string{"spec.l[1].u", "spec.m.k.u", "spec.p.u", "spec.u"}, left: "spec: {a: x, p: {a: x}, l: [{a: x}, {}], m: {k: {a: x}}}"},
		"at the top":                       {now: "spec: {a: x}, extra: {u: 1}", want: []string{"extra"}, left: "spec: {a: x}"},
		"not in a status with the object":  {now: "spec: {u: 1}, status: {u: 1}", want: []string{"spec.u"}, left: "spec: {}, status: {u: 1}"},
		"only in a status":                 {now: "spec: {u: 1}, status: {a: x, u: 1}, extra: 1", before: "spec: {}", subresource: judge.Status, want: []string{"status.u"}, left: "spec: {u: 1}, status: {a: x}, extra: 1"},
		"stored already":                   {now: "spec: {a: y, u: {v: 1}}", before: "spec: {a: x, u: {v: 1}}", left: "spec: {a: y, u: {v: 1}}"},
		"stored with another value":        {now: "spec: {a: y, u: 2}", before: "spec: {a: x, u: 1}", want: []string{"spec.u"}, left: "spec: {a: y}"},
		"stored in part":                   {now: "spec: {u: {v: 1, w: 2, x: {y: 1, z: 2}}}", before: "spec: {u: {v: 1, x: {y: 1}}}", want: []string{"spec.u.w", "spec.u.x.z"}, left: "spec: {u: {v: 1, x: {y: 1}}}"},
		"stored in part, all other":        {now: "spec: {u: {w: 2}}", before: "spec: {u: {v: 1}}", want: []string{"spec.u"}, left: "spec: {}"},
		"stored below what is known":       {now: "spec: {p: {a: y, u: 1}, m: {k: {u: 1}, j: {u: 1}}}", before: "spec: {p: {a: x, u: 1}, m: {k: {u: 1}}}", want: []string{"spec.m.j.u"}, left: "spec: {p: {a: y, u: 1}, m: {k: {u: 1}, j: {}}}"},
		"stored in an item, changed":       {now: "spec: {l: [{a: y, u: 1}]}", before: "spec: {l: [{a: x, u: 1}]}", left: "spec: {l: [{a: y, u: 1}]}"},
		"stored in an item, moved":         {now: "spec: {l: [{a: new}, {a: z}, {a: x, u: 1}]}", before: "spec: {l: [{a: x, u: 1}, {a: z}]}", left: "spec: {l: [{a: new}, {a: z}, {a: x, u: 1}]}"},
		"stored in an item, shifted":       {now: "spec: {l: [{a: new}, {a: y, u: 1}]}", before: "spec: {l: [{a: x, u: 1}]}", left: "spec: {l: [{a: new}, {a: y, u: 1}]}"},
		"stored in an item, and a new one": {now: "spec: {l: [{a: x, u: 1}, {a: y, u: 2}]}", before: "spec: {l: [{a: x, u: 1}]}", want: []string{"spec.l[1].u"}, left: "spec: {l: [{a: x, u: 1}, {a: y}]}"},
		"stored in an item of that key":    {now: "spec: {k: [{name: b, u: 2}, {name: a, a: y, u: 1}]}", before: "spec: {k: [{name: a, u: 1}, {name: b, u: 1}]}", want: []string{"spec.k[0].u"}, left: "spec: {k: [{name: b}, {name: a, a: y, u: 1}]}"},
		"stored in the status":             {now: "spec: {}, status: {a: y, u: 1, v: 2}", before: "spec: {}, status: {u: 1}", subresource: judge.Status, want: []string{"status.v"}, left: "spec: {}, status: {a: y, u: 1}"},
		"a value that was an object":       {now: "spec: {p: x}", before: "spec: {p: {u: 1}}", left: "spec: {p: x}"},
	} {
		t.Run(name, func(t *testing.T) {
			now, before := widget(t, c.now), map[string]any(nil)
			if c.before != "" {
				before = widget(t, c.before).Object
			}
			got := j.Prune(now.Object, before, kept(t, definition(knownSpec, knownStatus)), c.subresource)
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if left := widget(t, c.left); !equality.Semantic.DeepEqual(now, left) {
				t.Errorf("left %v, want %v", now, left)
			}
		})
	}
}

func TestPrune_leaves_what_the_live_definition_keeps(t *testing.T) {
	j := compiled(t, definition(knownSpec, knownStatus))
	live := kept(t, definition(`{type: object, required: [r], allOf: [{properties: {p: {required: [deep]}, l: {items: {required: [each]}}}}], properties: {r: {type: object, properties: {x: {type: string}}}, o: {type: string}, d: {type: object, default: {x: 1}, properties: {x: {type: integer}, y: {type: integer, default: 2}}}, p: {type: object, properties: {deep: {type: string}, o: {type: string}}}, l: {type: array, items: {type: object, properties: {each: {type: string}}}}}}`, knownStatus))
	for name, c := range map[string]struct {
		now  string
		want []string
	}{
		"required, with all below it":   {"spec: {r: {x: a, z: b}}", nil},
		"not required":                  {"spec: {r: {}, o: x}", []string{"spec.o"}},
		"required by allOf":             {"spec: {r: {}, p: {deep: x, o: y}, l: [{each: x, o: y}]}", []string{"spec.l[0].o", "spec.p.o"}},
		"what it would put back anyhow": {"spec: {r: {}, d: {x: 1, y: 2}}", nil},
		"another value than it puts":    {"spec: {r: {}, d: {x: 1, y: 3}}", []string{"spec.d"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := j.Prune(widget(t, c.now).Object, nil, live, ""); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if got := j.Prune(widget(t, "spec: {r: 1}").Object, nil, nil, ""); !slices.Equal(got, []string{"spec.r"}) {
		t.Errorf("without a live definition: %q", got)
	}
}

func TestPrune_leaves_excluded_fields(t *testing.T) {
	j := compiled(t, definition(knownSpec, knownStatus), "spec.p", "spec.l.a", "status")
	now := widget(t, "spec: {p: {u: {v: 1}}, l: [{a: {u: 1}, u: 1}]}")
	if got := j.Prune(now.Object, nil, nil, ""); !slices.Equal(got, []string{"spec.l[0].u"}) {
		t.Errorf("%q", got)
	}
	now = widget(t, "status: {u: 1}")
	if got := j.Prune(now.Object, nil, nil, judge.Status); len(got) > 0 {
		t.Errorf("%q", got)
	}
}
