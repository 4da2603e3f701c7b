package judge_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/crdschema/judge"
)

const (
	spec = `{type: object, required: [size], x-kubernetes-validations: [
  {rule: "!has(self.low) || !has(self.high) || self.low <= self.high", message: low above high},
  {rule: "!has(oldSelf.fixed) || has(self.fixed) && self.fixed == oldSelf.fixed", message: fixed is immutable}],
 properties: {
  size: {type: string, enum: [s, m]}, replicas: {type: integer, maximum: 5}, low: {type: integer}, high: {type: integer}, fixed: {type: string},
  defaulted: {type: string, default: d, minLength: 1},
  needsDefault: {type: object, required: [x], properties: {x: {type: string, default: d}}},
  set: {type: array, x-kubernetes-list-type: set, items: {type: string}},
  ports: {type: array, maxItems: 100, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name, port], properties: {name: {type: string, maxLength: 20}, port: {type: integer, minimum: 1}}}},
  template: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}`
	status = `{type: object, properties: {replicas: {type: integer, maximum: 5}, selector: {type: string}, phase: {type: string, enum: [Up, Down]}}}`
)

func TestValidate_is_the_verdict_of_the_API_server(t *testing.T) {
	j := compiled(t, definition(spec, status))
	for name, c := range map[string]struct {
		now, before, subresource string
		want                     []string
	}{
		"a good one":                              {now: "spec: {size: s}"},
		"required":                                {now: "spec: {}", want: []string{"<nil>", "spec.size"}},
		"a bad value":                             {now: "spec: {size: xl}", want: []string{"<nil>", "spec.size"}},
		"a bad type":                              {now: "spec: {size: s, low: x}", want: []string{"<nil>", "spec.low"}},
		"a required field with a default":         {now: "spec: {size: s, needsDefault: {}}"},
		"null is no value where none may be":      {now: "spec: {size: s, low: null}"},
		"a rule":                                  {now: "spec: {size: s, low: 2, high: 1}", want: []string{"spec"}},
		"a rule of updates":                       {now: "spec: {size: s, fixed: b}", before: "spec: {size: s, fixed: a}", want: []string{"spec"}},
		"a rule of updates, kept":                 {now: "spec: {size: m, fixed: a}", before: "spec: {size: s, fixed: a}"},
		"a set with one twice":                    {now: "spec: {size: s, set: [a, a]}", want: []string{"spec.set[1]"}},
		"a set that was so before":                {now: "spec: {size: m, set: [a, a]}", before: "spec: {size: s, set: [a, a]}"},
		"a map with one twice":                    {now: "spec: {size: s, ports: [{name: a, port: 1}, {name: a, port: 2}]}", want: []string{"spec.ports[1]"}},
		"unknown fields":                          {now: "spec: {size: s, unknown: 1}"},
		"an embedded resource without a kind":     {now: "spec: {size: s, template: {apiVersion: v1}}", want: []string{"<nil>", "spec.template.kind"}},
		"an embedded resource with a bad label":   {now: "spec: {size: s, template: {apiVersion: v1, kind: Pod, metadata: {name: x, labels: {'-': x}}}}", want: []string{"spec.template.metadata.labels"}},
		"an embedded resource of a bad type":      {now: "spec: {size: s, template: {apiVersion: v1, kind: 1}}", want: []string{"spec.template.kind"}},
		"replicas below none":                     {now: "spec: {size: s, replicas: -1}", want: []string{".spec.replicas"}},
		"replicas of a bad type":                  {now: "spec: {size: s, replicas: x}", want: []string{".spec.replicas", "<nil>", "spec.replicas"}},
		"unchanged, as bad as before":             {now: "spec: {size: xl, low: 1}", before: "spec: {size: xl, low: 2}"},
		"changed, as bad as before":               {now: "spec: {size: xxl}", before: "spec: {size: xl}", want: []string{"<nil>", "spec.size"}},
		"an item as bad as before, moved":         {now: "spec: {size: s, ports: [{name: b, port: 1}, {name: a, port: 0}]}", before: "spec: {size: s, ports: [{name: a, port: 0}]}"},
		"an item worse than before":               {now: "spec: {size: s, ports: [{name: a, port: -1}]}", before: "spec: {size: s, ports: [{name: a, port: 0}]}", want: []string{"spec.ports[0].port"}},
		"a status with the object":                {now: "spec: {size: s}, status: {phase: Sideways}"},
		"a status with an update":                 {now: "spec: {size: m}, status: {phase: Sideways}", before: "spec: {size: s}"},
		"a bad status":                            {now: "spec: {size: s}, status: {phase: Sideways}", before: "spec: {size: s}", subresource: judge.Status, want: []string{"<nil>", "status.phase"}},
		"a bad number in the status":              {now: "spec: {size: s}, status: {replicas: 6}", before: "spec: {size: s}", subresource: judge.Status, want: []string{"status.replicas"}},
		"a bad status as before":                  {now: "spec: {size: s}, status: {phase: Sideways, replicas: 1}", before: "spec: {size: s}, status: {phase: Sideways}", subresource: judge.Status},
		"a bad object behind a status":            {now: "spec: {size: xl}, status: {phase: Up}", before: "spec: {size: xl}", subresource: judge.Status},
		"an object changed with the status":       {now: "spec: {size: xl}, status: {phase: Up}", before: "spec: {size: s}", subresource: judge.Status},
		"no status any more":                      {now: "spec: {size: s}", before: "spec: {size: s}, status: {phase: Up}", subresource: judge.Status},
		"a selector of a bad type":                {now: "spec: {size: s}, status: {selector: 1}", before: "spec: {size: s}", subresource: judge.Status, want: []string{".status.selector", "<nil>", "status.selector"}},
		"labels only, of an object that is wrong": {now: "spec: {size: xl, low: 2, high: 1, unknown: 1}, status: {phase: Sideways}", before: "spec: {size: xl, low: 2, high: 1, unknown: 1}, status: {phase: Sideways}"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := refused(t, j, widget(t, c.now), widget(t, c.before), c.subresource); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestValidate_judges_metadata_and_type(t *testing.T) {
	j := compiled(t, definition(spec, status))
	object := widget(t, "spec: {size: s}")
	object.SetLabels(map[string]string{"-": "x"})
	if got := refused(t, j, object, nil, ""); !slices.Equal(got, []string{"metadata.labels"}) {
		t.Errorf("%q", got)
	}
	object = widget(t, "spec: {size: s}")
	object.SetAPIVersion("example.com/v2")
	object.SetKind("Gadget")
	if got := refused(t, j, object, nil, ""); !slices.Equal(got, []string{"apiVersion", "kind"}) {
		t.Errorf("%q", got)
	}
	object = widget(t, "spec: {size: s}")
	object.Object["metadata"].(map[string]any)["labels"] = "x"
	if got := refused(t, j, object, nil, ""); !slices.Equal(got, []string{"metadata"}) {
		t.Errorf("%q", got)
	}
}

func TestValidate_takes_status_for_a_field_without_the_subresource(t *testing.T) {
	j := compiled(t, definition(spec, status, withoutSubresources, ""))
	bad := widget(t, "spec: {size: s}, status: {phase: Sideways}")
	if got := refused(t, j, bad, nil, ""); !slices.Contains(got, "status.phase") {
		t.Errorf("with a creation: %q", got)
	}
	if got := refused(t, j, bad, widget(t, "spec: {size: s}"), judge.Status); !slices.Contains(got, "status.phase") {
		t.Errorf("where the live definition has it: %q", got)
	}
}

func TestValidate_stops_rules_that_cost_too_much(t *testing.T) {
	j := compiled(t, definition("{type: object, properties: {l: {type: array, items: {type: string}, x-kubernetes-validations: [{rule: 'self.all(a, self.all(b, self.all(c, a + b + c != \"\")))'}]}}}", "{type: object}"))
	object := widget(t, "spec: {l: ["+strings.TrimSuffix(strings.Repeat("abc, ", 500), ", ")+"]}")
	problems := j.Validate(t.Context(), object, nil, "")
	if len(problems) == 0 || !strings.Contains(problems.ToAggregate().Error(), "cost") {
		t.Errorf("%v", problems)
	}
}

func TestValidate_neither_requires_nor_validates_excluded_fields(t *testing.T) {
	const spec = `{type: object, required: [gone, kept], allOf: [{required: [gone]}, {properties: {gone: {enum: [x]}}}], oneOf: [{required: [gone]}, {required: [other]}], not: {required: [gone]}, anyOf: [{required: [kept]}, {required: [never]}],
 x-kubernetes-validations: [{rule: "self.gone == 'x'"}, {rule: "self.kept != 'bad'"}],
 properties: {kept: {type: string}, other: {type: string}, never: {type: string}, gone: {type: string, enum: [x], x-kubernetes-validations: [{rule: "self == 'x'"}]},
  items: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [key], items: {type: object, required: [key, deep], properties: {key: {type: string}, deep: {type: object, required: [a], properties: {a: {type: string}}}}}}}}`
	j := compiled(t, definition(spec, `{type: object, required: [phase], properties: {phase: {type: string}}}`), "spec.gone", "spec.items.key", "spec.items.deep.a", "status.phase")
	for name, c := range map[string]struct {
		now, before, subresource string
		want                     []string
	}{
		"absent":                       {now: "spec: {kept: a}"},
		"of any value":                 {now: "spec: {kept: a, gone: {a: [1]}}"},
		"null":                         {now: "spec: {kept: a, gone: null}"},
		"in items":                     {now: "spec: {kept: a, items: [{deep: {}}, {deep: {a: 1}}, {key: 1, deep: {}}, {key: 1, deep: {}}]}"},
		"others are required":          {now: "spec: {gone: x}", want: []string{"<nil>", "<nil>", "spec.kept"}},
		"others in items are required": {now: "spec: {kept: a, items: [{key: a}]}", want: []string{"<nil>", "spec.items[0].deep"}},
		"other rules hold":             {now: "spec: {kept: bad}", want: []string{"spec"}},
		"in the status":                {now: "spec: {kept: a}, status: {phase: 1}", before: "spec: {kept: a}", subresource: judge.Status},
	} {
		t.Run(name, func(t *testing.T) {
			if got := refused(t, j, widget(t, c.now), widget(t, c.before), c.subresource); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestValidate_asks_nothing_of_an_excluded_field_that_scale_shows(t *testing.T) {
	const spec, status = `{type: object, properties: {replicas: {type: integer}}}`, `{type: object, properties: {replicas: {type: integer}, selector: {type: string}}}`
	for _, excluded := range [][]string{{"spec.replicas", "status.replicas", "status.selector"}, {"spec", "status"}} {
		j := compiled(t, definition(spec, status), excluded...)
		for _, object := range []string{"spec: {replicas: many}", "spec: {replicas: -1}"} {
			if got := refused(t, j, widget(t, object), nil, ""); len(got) > 0 {
				t.Errorf("without %q: %s is refused: %v", excluded, object, got)
			}
		}
		if got := refused(t, j, widget(t, "status: {replicas: -1, selector: 1}"), widget(t, "spec: {}"), judge.Status); len(got) > 0 {
			t.Errorf("without %q: a status is refused: %v", excluded, got)
		}
	}
	if got := refused(t, compiled(t, definition(spec, status)), widget(t, "spec: {replicas: -1}"), nil, ""); len(got) == 0 {
		t.Error("a field that is not excluded is not asked for")
	}
}
