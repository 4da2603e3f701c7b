package crdschema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

// allocations are what one call takes.
func allocations(do func()) float64 { return testing.AllocsPerRun(3, do) }

// A live definition is anybody's: what is beside each other in it may add up, and may not multiply.
func TestCompare_does_not_multiply_fields_by_clauses(t *testing.T) {
	cost := func(n int) float64 {
		var fields, clauses strings.Builder
		for i := range n {
			fmt.Fprintf(&fields, "f%d: {type: string}, ", i)
			fmt.Fprintf(&clauses, "{properties: {f%d: {minLength: 1}}}, {}, ", i)
		}
		text := definition(`{type: object, properties: {` + fields.String() + `}, allOf: [` + clauses.String() + `]}`)
		need, live := decoded(t, specification(definition(onlyA))), live(t, text)
		return allocations(func() { need.Compare(live) })
	}
	if few, many := cost(50), cost(500); many > 20*few {
		t.Errorf("50 fields beside 100 clauses take %.0f allocations, ten times as many of both %.0f", few, many)
	}
}

func TestRatchet_covers_ten_thousand_lines_by_ten_thousand(t *testing.T) {
	var before, now crdschema.Verdict
	for i := range 10_000 {
		before.Missing = append(before.Missing, fmt.Sprintf("v1: spec.a%d is missing", i))
		now.Missing = append(now.Missing, fmt.Sprintf("v1: spec.a%d.b[*].c is missing", i))
	}
	before.Missing = append(before.Missing, "v2: the version is missing")
	now.Missing = append(now.Missing, "v2: spec.x is missing", "v1: spec.a10000 is missing", "v1: spec.a is missing", "v22: spec.x is missing")
	changed := now.Ratchet(before)
	if got := fmt.Sprint(changed.Missing); got != "[v1: spec.a is missing v1: spec.a10000 is missing v22: spec.x is missing]" || len(changed.Warnings) != 10_001 {
		t.Errorf("missing now: %s; %d warnings", got, len(changed.Warnings))
	}
}

func TestText_counts_what_was_left_out_before(t *testing.T) {
	var lines []string
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf("v1: spec.a%d is missing", i))
	}
	text := crdschema.Text(crdschema.Few(lines, 64), 300)
	told := strings.Count(text, "is missing")
	if want := fmt.Sprintf("; and %d more", 1000-told); told == 0 || !strings.HasSuffix(text, want) || len(text) > 300 {
		t.Errorf("%d lines are told, and then %q is wanted: %s", told, want, text)
	}
	if few := crdschema.Few(lines[:64], 64); len(few) != 64 || strings.HasPrefix(few[63], "and ") {
		t.Errorf("nothing is left out of %d lines: %q", len(few), few[63])
	}
}
