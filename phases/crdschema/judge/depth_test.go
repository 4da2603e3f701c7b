package judge_test

import (
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

// The work may grow with the depth of an object as the object does, and by the lists that are compared on each level; it may
// not double with each.
func TestPrune_does_not_double_its_work_with_each_level(t *testing.T) {
	lists := func(depth int, schema string) string {
		return strings.Repeat("{type: array, items: ", depth) + schema + strings.Repeat("}", depth)
	}
	nested := func(depth int, before, after string) string {
		return strings.Repeat("[", depth) + before + after + strings.Repeat("]", depth)
	}
	widened := func(depth int, leaf string) string {
		return strings.Repeat("[0, ", depth) + leaf + strings.Repeat("]", depth)
	}
	for name, c := range map[string]struct {
		spec        func(depth int) string
		now, before func(depth int) string
	}{
		"where nothing is known": {
			spec: func(int) string {
				return `{type: object, properties: {x: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`
			},
			now:    func(depth int) string { return "{y: " + nested(depth, "1", "") + "}" },
			before: func(depth int) string { return "{y: " + nested(depth, "2", "") + "}" },
		},
		"down to what is unknown": {
			spec: func(depth int) string {
				return `{type: object, properties: {x: ` + lists(depth, `{type: object, properties: {a: {type: string}}}`) + `}}`
			},
			now:    func(depth int) string { return nested(depth, "{a: x, u: 1}", "") },
			before: func(depth int) string { return nested(depth, "{a: y, u: 2}", ", {a: z}") },
		},
		"in lists of other lengths": {
			spec: func(depth int) string {
				return `{type: object, properties: {x: ` + lists(depth, `{type: object, properties: {a: {type: string}}}`) + `}}`
			},
			now:    func(depth int) string { return nested(depth, "{u: 1}", "") },
			before: func(depth int) string { return widened(depth, "{u: 2}") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			work := func(depth int) float64 {
				j := compiled(t, definition(c.spec(depth), knownStatus))
				now, before := widget(t, "spec: {x: "+c.now(depth)+"}"), widget(t, "spec: {x: "+c.before(depth)+"}")
				return testing.AllocsPerRun(5, func() { j.Prune(runtime.DeepCopyJSON(now.Object), before.Object, nil, "") })
			}
			if few, many := work(7), work(14); many > 6*few {
				t.Errorf("7 levels take %.0f allocations, 14 levels %.0f", few, many)
			}
		})
	}
}

func TestPrune_keeps_what_is_required_below_what_is_stored(t *testing.T) {
	j := compiled(t, definition(knownSpec, knownStatus))
	live := kept(t, definition(`{type: object, properties: {u: {type: object, required: [v], properties: {v: {type: integer}, w: {type: integer}, x: {type: object, required: [q], properties: {q: {type: integer}}}}}}}`, knownStatus))
	for _, c := range []struct {
		before, now, left string
		want              []string
	}{
		{"spec: {u: {v: 1, w: 2}}", "spec: {u: {v: 5, w: 2}}", "map[u:map[v:5 w:2]]", nil},
		{"spec: {u: {v: 1, w: 2}}", "spec: {u: {v: 5, w: 2, z: 1}}", "map[u:map[v:5 w:2]]", []string{"spec.u.z"}},
		{"spec: {u: {v: 1}}", "spec: {u: {v: 5}}", "map[]", []string{"spec.u"}},
		{"spec: {u: {v: 1, x: {q: 1, z: 1}}}", "spec: {u: {v: 1, x: {q: 2, z: 1, zz: 1}}}", "map[u:map[v:1 x:map[q:2 z:1]]]", []string{"spec.u.x.zz"}},
	} {
		now, before := widget(t, c.now), widget(t, c.before)
		got := j.Prune(now.Object, before.Object, live, "")
		if left := fmt.Sprint(now.Object["spec"]); left != c.left || !slices.Equal(got, c.want) {
			t.Errorf("%s after %s: pruned %q, left %s; want %q and %s", c.now, c.before, got, left, c.want, c.left)
		}
	}
}

func TestPrune_does_not_multiply_fields_by_clauses_of_the_live_definition(t *testing.T) {
	j := compiled(t, definition(knownSpec, knownStatus))
	work := func(n int) uint64 {
		var clauses, fields strings.Builder
		for i := range n {
			fmt.Fprintf(&clauses, "{properties: {u%d: {minLength: 1}}}, ", i)
			fmt.Fprintf(&fields, "u%d: x, ", i)
		}
		live := kept(t, definition(`{type: object, x-kubernetes-preserve-unknown-fields: true, allOf: [`+clauses.String()+`]}`, knownStatus))
		now := widget(t, "spec: {"+fields.String()+"}")
		var before, after goruntime.MemStats
		goruntime.ReadMemStats(&before)
		j.Prune(now.Object, nil, live, "")
		goruntime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := work(50), work(500); many > 20*few {
		t.Errorf("50 fields and clauses take %d bytes, 500 of both %d", few, many)
	}
}
