package crdschema_test

import (
	"slices"
	"strings"
	"testing"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

// told compares and gives what is told of v1beta2, in a short form.
func told(verdict crdschema.Verdict) (missing, warnings []string) {
	short := func(lines []string) (out []string) {
		for _, line := range lines {
			out = append(out, strings.TrimPrefix(strings.TrimSuffix(line, " is missing"), "v1beta2: "))
		}
		return out
	}
	return short(verdict.Missing), short(verdict.Warnings)
}

// object is a schema with properties; preserving keeps what it does not know.
func object(properties string) string { return "{type: object, properties: {" + properties + "}}" }

func preserving(properties string) string {
	return "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {" + properties + "}}"
}

const (
	aString   = "a: {type: string}"
	anything  = "{x-kubernetes-preserve-unknown-fields: true}"
	embedded  = "{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}"
	onlyA     = "{type: object, properties: {a: {type: string}}}"
	mapOfA    = "{type: object, additionalProperties: {type: object, properties: {a: {type: string}}}}"
	listOfA   = "{type: array, items: {type: object, properties: {a: {type: string}}}}"
	noFields  = "{type: object}"
	keepsAll  = "{type: object, x-kubernetes-preserve-unknown-fields: true}"
	mapOfText = "{type: object, additionalProperties: {type: string}}"
)

func TestCompare_fields(t *testing.T) {
	for name, c := range map[string]struct {
		need, live        string
		missing, warnings []string
	}{
		"the same":                             {need: onlyA, live: onlyA},
		"a field lost":                         {need: object("a: {type: string}, b: {type: string}"), live: onlyA, missing: []string{"spec.b"}},
		"more fields":                          {need: onlyA, live: object("a: {type: string}, b: {type: string}")},
		"a parent lost":                        {need: object("p: " + onlyA), live: noFields, missing: []string{"spec.p"}},
		"a nested field lost":                  {need: object("p: " + onlyA), live: object("p: " + noFields), missing: []string{"spec.p.a"}},
		"a field of items lost":                {need: object("l: " + listOfA), live: object("l: {type: array, items: " + noFields + "}"), missing: []string{"spec.l[*].a"}},
		"a field of items of items lost":       {need: object("l: {type: array, items: " + listOfA + "}"), live: object("l: {type: array, items: {type: array, items: " + noFields + "}}"), missing: []string{"spec.l[*][*].a"}},
		"a field of map values lost":           {need: object("m: " + mapOfA), live: object("m: {type: object, additionalProperties: " + noFields + "}"), missing: []string{"spec.m{*}.a"}},
		"map values lost":                      {need: object("m: " + mapOfA), live: object("m: " + noFields), missing: []string{"spec.m{*}"}},
		"map values gained":                    {need: object("m: " + noFields), live: object("m: " + mapOfA)},
		"map values of anything":               {need: object("m: " + mapOfA), live: object("m: {type: object, additionalProperties: true}"), missing: []string{"spec.m{*}.a"}},
		"map values of anything, as before":    {need: object("m: {type: object, additionalProperties: true}"), live: object("m: {type: object, additionalProperties: true}")},
		"all lost":                             {need: onlyA, live: noFields, missing: []string{"spec.a"}},
		"the type of a field":                  {need: onlyA, live: object("a: {type: integer}"), warnings: []string{"spec.a: the type changed from string to integer"}},
		"a type, and nothing below":            {need: object("p: " + onlyA), live: object("p: {type: string}"), warnings: []string{"spec.p: the type changed from object to string"}},
		"an object to a list":                  {need: object("p: " + onlyA), live: object("p: " + listOfA), warnings: []string{"spec.p: the type changed from object to array"}},
		"an object to a map":                   {need: object("p: " + onlyA), live: object("p: " + mapOfText), warnings: []string{"spec.p: the type changed from object to map"}},
		"a map to an object":                   {need: object("p: " + mapOfText), live: object("p: " + onlyA), warnings: []string{"spec.p: the type changed from map to object"}},
		"the type of items":                    {need: object("l: " + listOfA), live: object("l: {type: array, items: {type: string}}"), warnings: []string{"spec.l[*]: the type changed from object to string"}},
		"the type of map values":               {need: object("m: " + mapOfText), live: object("m: {type: object, additionalProperties: {type: integer}}"), warnings: []string{"spec.m{*}: the type changed from string to integer"}},
		"a text to int-or-string":              {need: onlyA, live: object("a: {x-kubernetes-int-or-string: true}"), warnings: []string{"spec.a: the type changed from string to int-or-string"}},
		"int-or-string, as before":             {need: object("a: {x-kubernetes-int-or-string: true}"), live: object("a: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}")},
		"a text to anything":                   {need: onlyA, live: object("a: " + anything), warnings: []string{"spec.a: the type changed from string to anything"}},
		"anything to a text":                   {need: object("a: " + anything), live: onlyA, warnings: []string{"spec.a: the type changed from anything to string"}},
		"the type of a list":                   {need: object("l: {type: array, x-kubernetes-list-type: set, items: {type: string}}"), live: object("l: {type: array, items: {type: string}}"), warnings: []string{"spec.l: the type of the array changed from set to atomic"}},
		"the keys of a list":                   {need: object("l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: {type: object, required: [a], properties: {a: {type: string}}}}"), live: object("l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b], items: {type: object, required: [a], properties: {a: {type: string}, b: {type: string, default: x}}}}"), warnings: []string{"spec.l: the type of the array changed from map by a to map by a, b"}},
		"the type of an object":                {need: object("p: " + onlyA), live: object("p: {type: object, x-kubernetes-map-type: atomic, properties: {a: {type: string}}}"), warnings: []string{"spec.p: the type of the object changed from granular to atomic"}},
		"defaults written out":                 {need: object("l: {type: array, x-kubernetes-list-type: atomic, items: {type: string}}, p: {type: object, x-kubernetes-map-type: granular}"), live: object("l: {type: array, items: {type: string}}, p: {type: object}")},
		"required, and unknown":                {need: onlyA, live: "{type: object, required: [b], properties: {a: {type: string}, b: {type: string}}}", warnings: []string{"spec.b: is required, and unknown to the requirement"}},
		"required, with a default":             {need: onlyA, live: "{type: object, required: [b], properties: {a: {type: string}, b: {type: string, default: x}}}"},
		"required, and known":                  {need: onlyA, live: "{type: object, required: [a], properties: {a: {type: string}}}"},
		"required by allOf":                    {need: onlyA, live: "{type: object, allOf: [{required: [b]}], properties: {a: {type: string}, b: {type: string}}}", warnings: []string{"spec.b: is required, and unknown to the requirement"}},
		"required by allOf from above":         {need: object("p: " + onlyA), live: "{type: object, allOf: [{properties: {p: {allOf: [{required: [b]}]}}}], properties: {p: {type: object, properties: {a: {type: string}, b: {type: string}}}}}", warnings: []string{"spec.p.b: is required, and unknown to the requirement"}},
		"required in items":                    {need: object("l: " + listOfA), live: object("l: {type: array, items: {type: object, required: [b], properties: {a: {type: string}, b: {type: string}}}}"), warnings: []string{"spec.l[*].b: is required, and unknown to the requirement"}},
		"required by one of several":           {need: onlyA, live: "{type: object, oneOf: [{required: [a]}, {required: [b]}], properties: {a: {type: string}, b: {type: string}}}"},
		"required in what is new":              {need: onlyA, live: object("a: {type: string}, n: {type: object, required: [b], properties: {b: {type: string}}}")},
		"preserving lost":                      {need: preserving(aString), live: onlyA, warnings: []string{"spec: unknown fields are not preserved"}},
		"preserving gained":                    {need: onlyA, live: preserving(aString)},
		"preserving in place of a field":       {need: object("a: {type: string}, b: {type: string}"), live: preserving(aString), warnings: []string{"spec.b: is only preserved as an unknown field"}},
		"preserving in place of map values":    {need: object("m: " + mapOfA), live: object("m: " + keepsAll), warnings: []string{"spec.m{*}: is only preserved as an unknown field"}},
		"preserving around a map":              {need: object("m: " + mapOfText), live: object("m: " + preserving(aString)), warnings: []string{"spec.m{*}: is only preserved as an unknown field"}},
		"anything in place of fields":          {need: object("p: " + onlyA), live: object("p: " + anything), warnings: []string{"spec.p.a: is only preserved as an unknown field"}},
		"preserving ends at known fields":      {need: object("p: " + onlyA), live: preserving("p: " + noFields), missing: []string{"spec.p.a"}},
		"preserving goes on in items":          {need: object("l: " + listOfA), live: object("l: {type: array, x-kubernetes-preserve-unknown-fields: true, items: " + noFields + "}"), warnings: []string{"spec.l[*].a: is only preserved as an unknown field"}},
		"preserving in items lost":             {need: object("l: {type: array, x-kubernetes-preserve-unknown-fields: true, items: " + onlyA + "}"), live: object("l: " + listOfA), warnings: []string{"spec.l[*]: unknown fields are not preserved"}},
		"embedded, as before":                  {need: object("e: " + embedded), live: object("e: " + embedded)},
		"embedded implies its fields":          {need: object("e: {type: object, properties: {kind: {type: string}, spec: {type: object}}}"), live: object("e: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}}")},
		"embedded lost":                        {need: object("e: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}}"), live: object("e: {type: object, properties: {kind: {type: string}, spec: {type: object}}}"), missing: []string{"spec.e.apiVersion", "spec.e.metadata"}},
		"embedded gained requires what it has": {need: object("e: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}}"), live: object("e: {type: object, x-kubernetes-embedded-resource: true, required: [kind], properties: {kind: {type: string}, spec: {type: object}}}")},
		"value validation":                     {need: object("a: {type: string, minLength: 1, enum: [x, y2]}, n: {type: integer, maximum: 5}"), live: object("a: {type: string, allOf: [{maxLength: 3}], pattern: x}, n: {type: integer, nullable: true, format: int32, maximum: 4, x-kubernetes-validations: [{rule: self > 1}]}")},
		"several at once, sorted":              {need: object("c: {type: string}, b: {type: string}, a: {type: string}"), live: noFields, missing: []string{"spec.a", "spec.b", "spec.c"}},
	} {
		t.Run(name, func(t *testing.T) {
			need := decoded(t, specification(definition(c.need)))
			missing, warnings := told(need.Compare(live(t, definition(c.live))))
			if !slices.Equal(missing, c.missing) || !slices.Equal(warnings, c.warnings) {
				t.Errorf("missing %q, want %q\nwarnings %q, want %q", missing, c.missing, warnings, c.warnings)
			}
		})
	}
}

func TestCompare_versions_and_names(t *testing.T) {
	const subresources = "    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}\n"
	for name, c := range map[string]struct {
		changes           []string
		missing, warnings []string
	}{
		"nothing":                   {},
		"another kind":              {changes: []string{"kind: Widget", "kind: Gadget"}, missing: []string{"the kind is not Widget"}},
		"another scope":             {changes: []string{"scope: Namespaced", "scope: Cluster"}, missing: []string{"the scope is not Namespaced"}},
		"other names":               {changes: []string{"plural: widgets", "plural: widgets, singular: w, shortNames: [ww]"}},
		"a served version unserved": {changes: []string{"name: v1beta1, served: true", "name: v1beta1, served: false"}, missing: []string{"v1beta1: the version is not served"}},
		"a selected version absent": {changes: []string{"name: v1beta1", "name: v1beta3"}, missing: []string{"v1beta1: the version is missing"}},
		"an unserved one absent":    {changes: []string{"name: v1alpha1", "name: v1alpha2"}},
		"an unserved one served":    {changes: []string{"name: v1alpha1, served: false", "name: v1alpha1, served: true"}},
		"no subresources":           {changes: []string{subresources, ""}, missing: []string{"v1beta2: the scale subresource is missing", "v1beta2: the status subresource is missing"}},
		"another scale":             {changes: []string{".spec.replicas", ".spec.size"}},
		"another stored version":    {changes: []string{"served: true, storage: false", "served: true, storage: true", "storage: true\n", "storage: false\n"}, warnings: []string{"the storage version is v1beta1, and not v1beta2"}},
	} {
		t.Run(name, func(t *testing.T) {
			spec := specification(definition(onlyA))
			spec.CompatibilitySchema.RequiredVersions.DefaultSelection = requirementsv1alpha1.APIVersionSetTypeAllServed
			verdict := decoded(t, spec).Compare(live(t, definition(onlyA, c.changes...)))
			if !slices.Equal(verdict.Missing, c.missing) || !slices.Equal(verdict.Warnings, c.warnings) {
				t.Errorf("missing %q, want %q\nwarnings %q, want %q", verdict.Missing, c.missing, verdict.Warnings, c.warnings)
			}
		})
	}
}

func TestCompare_asks_of_an_unserved_version_only_that_it_is_there(t *testing.T) {
	spec := specification(definition(onlyA))
	spec.CompatibilitySchema.RequiredVersions.AdditionalVersions = []requirementsv1alpha1.APIVersionString{"v1alpha1"}
	need := decoded(t, spec)
	if verdict := need.Compare(live(t, definition(onlyA))); len(verdict.Missing) > 0 {
		t.Error(verdict)
	}
	verdict := need.Compare(live(t, definition(onlyA, "name: v1alpha1", "name: v1alpha2")))
	if want := []string{"v1alpha1: the version is missing"}; !slices.Equal(verdict.Missing, want) {
		t.Errorf("%q, want %q", verdict.Missing, want)
	}
}

func TestCompare_leaves_excluded_fields_out(t *testing.T) {
	const schema = "{type: object, properties: {a: {type: string}, p: {type: object, properties: {b: {type: string}, c: {type: object, properties: {d: {type: string}}}}}, l: {type: array, items: {type: object, properties: {e: {type: string}, f: {type: string}}}}}}"
	need := decoded(t, excluding(specification(definition(schema)), "spec.a", "spec.p.c", "spec.l.e"))
	for name, c := range map[string]struct {
		live    string
		missing []string
	}{
		"all of them lost":   {live: object("p: {type: object, properties: {b: {type: string}}}, l: {type: array, items: {type: object, properties: {f: {type: string}}}}")},
		"changed":            {live: object("a: {type: integer}, p: {type: object, properties: {b: {type: string}, c: {type: object, required: [z], properties: {z: {type: string}}}}}, l: {type: array, items: {type: object, required: [e], properties: {e: {type: integer}, f: {type: string}}}}")},
		"their parents lost": {live: noFields, missing: []string{"spec.l", "spec.p"}},
		"others beside them": {live: object("p: {type: object}, l: {type: array, items: {type: object}}"), missing: []string{"spec.l[*].f", "spec.p.b"}},
	} {
		t.Run(name, func(t *testing.T) {
			missing, warnings := told(need.Compare(live(t, definition(c.live))))
			if !slices.Equal(missing, c.missing) || len(warnings) > 0 {
				t.Errorf("missing %q, want %q, warnings %q", missing, c.missing, warnings)
			}
		})
	}
}

func TestCompare_takes_a_definition_that_prunes_nothing(t *testing.T) {
	crd := live(t, definition(noFields))
	crd.Spec.PreserveUnknownFields = true
	missing, warnings := told(decoded(t, specification(definition(object("p: "+onlyA)))).Compare(crd))
	if want := []string{"spec.p: is only preserved as an unknown field"}; len(missing) > 0 || !slices.Equal(warnings, want) {
		t.Errorf("%q %q", missing, warnings)
	}
}

func TestRatchet_denies_what_is_new_only(t *testing.T) {
	for name, c := range map[string]struct {
		before, now   []string
		denied, warns []string
	}{
		"as before":                  {[]string{"v1: spec.a is missing"}, []string{"v1: spec.a is missing"}, nil, []string{"v1: spec.a is missing"}},
		"a further one with a mend":  {[]string{"v1: spec.a is missing"}, []string{"v1: spec.b is missing"}, []string{"v1: spec.b is missing"}, nil},
		"a parent half back":         {[]string{"v1: spec.a is missing"}, []string{"v1: spec.a.x is missing", "v1: spec.ab is missing"}, []string{"v1: spec.ab is missing"}, []string{"v1: spec.a.x is missing"}},
		"a list and a map half back": {[]string{"v1: spec.l is missing", "v1: spec.m is missing"}, []string{"v1: spec.l[*].x is missing", "v1: spec.m{*} is missing"}, nil, []string{"v1: spec.l[*].x is missing", "v1: spec.m{*} is missing"}},
		"a version half back":        {[]string{"v1: the version is missing"}, []string{"v1: the version is not served", "v10: spec.a is missing"}, []string{"v10: spec.a is missing"}, []string{"v1: the version is not served"}},
		"a version lost for good":    {[]string{"v1: spec.a is missing"}, []string{"v1: the version is missing"}, []string{"v1: the version is missing"}, nil},
		"the parent of a lost field": {[]string{"v1: spec.a.x is missing"}, []string{"v1: spec.a is missing"}, []string{"v1: spec.a is missing"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := crdschema.Verdict{Missing: c.now}.Ratchet(crdschema.Verdict{Missing: c.before})
			if !slices.Equal(got.Missing, c.denied) || !slices.Equal(got.Warnings, c.warns) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestText_says_how_many_lines_it_leaves_out(t *testing.T) {
	lines := []string{"v1: spec.a is missing", "v1: spec.b is missing", "v1: spec.c is missing"}
	for bytes, want := range map[int]string{
		100: "v1: spec.a is missing; v1: spec.b is missing; v1: spec.c is missing",
		60:  "v1: spec.a is missing; v1: spec.b is missing; and 1 more",
		40:  "v1: spec.a is missing; and 2 more",
		24:  "v1: spec.…; and 2 more",
	} {
		got := crdschema.Text(lines, bytes)
		if got != want || len(got) > bytes {
			t.Errorf("%d: %q, want %q", bytes, got, want)
		}
	}
	if got := crdschema.Text(lines[:1], 10); got != "v1: spe…" && len(got) > 10 {
		t.Errorf("%q", got)
	}
	if got := crdschema.Text(nil, 10); got != "" {
		t.Errorf("%q", got)
	}
}
