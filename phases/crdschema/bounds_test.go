package crdschema_test

import (
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

// single is a definition of one version with a schema of spec.
func single(spec string) string {
	return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}, spec: {
group: example.com, names: {kind: Widget, plural: widgets}, scope: Namespaced, versions: [
{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: ` + spec + `}}}}]}}`
}

// bytesOf is how much one call allocates.
func bytesOf(do func()) uint64 {
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	do()
	goruntime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// untyped are so many fields of which a library says that each lacks its type.
func untyped(n int) string {
	var fields strings.Builder
	for i := range n {
		fmt.Fprintf(&fields, "a%d: {}, ", i)
	}
	return "{type: object, properties: {" + fields.String() + "}}"
}

// within is a schema inside of so many others, under names of so many bytes.
func within(depth, name int, schema string) string {
	return strings.Repeat("{type: object, properties: {? "+strings.Repeat("x", name)+"\n: ", depth) + schema + strings.Repeat("}}", depth)
}

func TestDecode_repeats_no_long_path_for_each_field(t *testing.T) {
	for name, c := range map[string]struct{ schema, want string }{
		"below a long name":       {within(1, 100_000, untyped(11_000)), "the name has 100000 bytes, and may have 1024"},
		"below many names":        {within(90, 1000, untyped(11_000)), "the paths of all fields before it have more than"},
		"below as many as may be": {within(1, 1000, untyped(9_000)), "must not be empty for specified object fields"},
		"many fields":             {within(1, 10, untyped(30_000)), "must not be empty for specified object fields"},
		"more than may be":        {within(1, 10, untyped(100_000)), "more than 100000 maps come before it"},
	} {
		t.Run(name, func(t *testing.T) {
			asJSON, err := yaml.YAMLToJSON([]byte(single(c.schema)))
			if err != nil {
				t.Fatal(err)
			}
			took := bytesOf(func() { _, err = crdschema.Decode(specification(string(asJSON))) })
			t.Logf("%d MiB for %d KiB", took>>20, len(asJSON)>>10)
			if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 64<<10 {
				t.Errorf("%.2000v", err)
			}
			// The library orders its lines by their texts, and makes each text anew for each look: some 450 MiB, and 800 MiB
			// under the race detector, which empties pools of buffers at random. Unbounded it was 5 GiB.
			if took > 1536<<20 {
				t.Errorf("%d bytes of data take %d bytes: %.500v", len(asJSON), took, err)
			}
		})
	}
}

// largest is a definition of which all bounds of paths allow no more, with so many fields below.
func largest(leaves string) string {
	return single(within(1, 1000, "{type: object, properties: {"+leaves+"}}"))
}

func TestCompare_tells_no_more_than_people_read_of_what_a_live_definition_requires(t *testing.T) {
	need := decoded(t, specification(largest("a: {type: string}")))
	var required strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&required, "b%d, ", i)
	}
	live := live(t, single(within(1, 1000, "{type: object, required: ["+required.String()+"], properties: {a: {type: string}}}")))
	var verdict crdschema.Verdict
	took := bytesOf(func() { verdict = need.Compare(live) })
	t.Logf("%d MiB", took>>20)
	if took > 32<<20 || len(verdict.Missing) > 0 || len(verdict.Warnings) != 1001 || verdict.Warnings[0] != "99000 more fields are required, and unknown to the requirement" {
		t.Errorf("%d bytes for %d lines: %.100q", took, len(verdict.Warnings), verdict.Warnings)
	}
	for _, line := range verdict.Warnings {
		if len(line) > 1200 {
			t.Fatalf("a line of %d bytes", len(line))
		}
	}
}

func TestCompare_tells_of_all_that_is_missing_within_the_bounds_of_paths(t *testing.T) {
	var leaves strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&leaves, "b%d: {type: string}, ", i)
	}
	need, live := decoded(t, specification(largest(leaves.String()))), live(t, largest("a: {type: string}"))
	var verdict crdschema.Verdict
	took := bytesOf(func() { verdict = need.Compare(live) })
	t.Logf("%d MiB", took>>20)
	if took > 64<<20 || len(verdict.Missing) != 5_000 {
		t.Errorf("%d bytes for %d lines", took, len(verdict.Missing))
	}
	few := crdschema.Few(verdict.Missing, 64)
	if len(few) != 65 || len(few[0]) > 1024 || !strings.HasSuffix(few[0], ".b0 is missing") || few[64] != "and 4936 more" {
		t.Errorf("%d lines, %.50q…, %q", len(few), few[0], few[64])
	}
}

func TestDecode_refuses_expressions_that_stand_for_more_than_they_say(t *testing.T) {
	many := strings.Repeat("[ab]{1000}", 600)
	for name, c := range map[string]struct{ schema, want string }{
		"a pattern":             {`{type: string, pattern: "` + many + `"}`, "instructions"},
		"repeats in repeats":    {`{type: string, pattern: "` + strings.Repeat("([ab]{100}){10}", 600) + `"}`, "instructions"},
		"a long pattern":        {`{type: string, pattern: "` + strings.Repeat("a", 17<<10) + `"}`, "instructions"},
		"many classes":          {`{type: string, pattern: "` + strings.Repeat(`\\pL`, 4000) + `"}`, "instructions"},
		"a rule":                {`{type: string, x-kubernetes-validations: [{rule: "self.matches('` + many + `')"}]}`, "instructions"},
		"a rule with escapes":   {`{type: string, x-kubernetes-validations: [{rule: "self.matches('` + strings.ReplaceAll(many, "{", `\\x7b`) + `')"}]}`, "instructions"},
		"parts of a rule":       {`{type: string, x-kubernetes-validations: [{rule: "self.matches('` + many[:3000] + `[ab]' + '{1000}` + many[:3000] + `')"}]}`, "instructions"},
		"what a rule finds":     {`{type: string, x-kubernetes-validations: [{rule: "[r'''` + many + `'''].exists(x, self.find(x) != '')"}]}`, "instructions"},
		"the text of a rule":    {`{type: string, x-kubernetes-validations: [{rule: "true", messageExpression: "self.find('` + many + `')"}]}`, "instructions"},
		"no regular expression": {`{type: string, pattern: "("}`, "spec.versions[0].schema.openAPIV3Schema.properties[spec].pattern: must be a regular expression"},
		"one and the same too often": {`{type: object, properties: {` + func() string {
			var fields strings.Builder
			for i := range 20 {
				fmt.Fprintf(&fields, `a%d: {type: string, pattern: "%s"}, `, i, many[:4000])
			}
			return fields.String()
		}() + `}}`, "instructions"},
		"one and the same often": {`{type: object, properties: {a: {type: string, pattern: "[ab]{1000}"}, b: {type: array, items: {type: string, pattern: "[ab]{1000}"}}}}`, ""},
		"what is no expression":  {`{type: string, x-kubernetes-validations: [{rule: "self.matches('a') || self == '({1000}` + many[:100] + `'"}]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			took := bytesOf(func() { _, err = crdschema.Decode(specification(single(c.schema))) })
			if took > 96<<20 || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d bytes, %v", took, err)
			}
		})
	}
}
