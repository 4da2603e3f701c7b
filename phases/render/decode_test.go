package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// decode returns the value of one document and what was reported, as
// "line path: cause".
func decode(t *testing.T, text string) (any, []string) {
	t.Helper()
	var reports []string
	r := renderer{}
	root := r.parse(place{line: 1}, []byte(text), nil)
	if root == nil {
		t.Fatalf("%q does not parse: %v", text, r.problems)
	}
	d := decoder{report: func(line int, path, cause string) {
		reports = append(reports, fmt.Sprintf("%d %s: %s", line, path, cause))
	}}
	return d.value(root), reports
}

func TestDecoder_reads_values_as_kubectl_does(t *testing.T) {
	for _, text := range []string{
		"a: 1\nb: -1\nc: 0\nd: +1\ne: 1_000\nf: 0x1F\ng: 0o17\nh: 0b11\ni: 0644\nj: -0\nk: 08",
		"a: 1.5\nb: 1.0\nc: 1e3\nd: 1e30\ne: -0.0\nf: .5\ng: 1.\nh: 9007199254740993\ni: 1e-7",
		"a: 9223372036854775807\nb: 9223372036854775808\nc: 18446744073709551615\nd: -9223372036854775808\ne: 99999999999999999999",
		"a: true\nb: True\nc: FALSE\nd: yes\ne: No\nf: on\ng: OFF\nh: y\ni: N\nj: 'yes'\nk: \"on\"\nl: |-\n  on\nm: !!str no\no: yesterday",
		"a: null\nb: ~\nc:\nd: Null\ne: ''\nf: nul\ng: [~, 1]",
		"a: 2001-01-01\nb: 2001-12-14t21:59:43.10-05:00\nc: 12:30\nd: 1:30:00\ne: v1\nf: 1.2.3\ng: 1Gi\nh: 10m\ni: 1e3Mi",
		"a: !!int '3'\nb: !!str 3\nc: !!float 3\nd: !!bool 'true'",
		"a: |\n  x\n   y\n\n  z\nb: >-\n  x\n  y\n\n  z\nc: 'it''s'\nd: \"tab\\t \\u00e9 \\x41 \\\n  joined\"\ne: plain\n  folded",
		"a: &x {b: [1, 2]}\nc: *x\nd: [*x, *x]",
		"a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\ne:\n  <<: [{c: 4}, *x]\n  f: 5",
		"'quoted': 1\n\"with: colon\": 2\n? long\n: 3\nüñí: 4\n'': 5\na.b/c: 6",
		"[]", "{}", "- 1\n- {a: b}\n- - c", "a: {}\nb: []", "# c\na: 1 # d\n# e\n",
	} {
		got, reports := decode(t, text)
		asJSON, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var want any
		if err := json.Unmarshal(asJSON, &want); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(reports) > 0 {
			t.Errorf("%q: %s, reports %v", text, diff, reports)
		}
	}
}

func TestDecoder_keys_are_strings(t *testing.T) {
	got, _ := decode(t, "on: 1\n2: 3\nnull_: 4\ntrue: 5")
	if diff := cmp.Diff(map[string]any{"on": int64(1), "2": int64(3), "null_": int64(4), "true": int64(5)}, got); diff != "" {
		t.Error(diff)
	}
}

func TestDecoder_reports_line_and_path(t *testing.T) {
	for text, want := range map[string][]string{
		"a:\n- b:\n    c: 1\n    d: 2\n    c: 3": {"5 a[0].b.c: the field is given twice in one mapping"},
		"a: 1\na: 2\nb: {c: 1, c: 2}":            {"2 a: the field is given twice in one mapping", "3 b.c: the field is given twice in one mapping"},
		"a: .nan\nb:\n  - 1\n  - -.inf":          {"1 a: .nan has no form in JSON", "4 b[1]: -.inf has no form in JSON"},
		"a: !!binary aGk=":                       {"1 a: the tag !!binary is not supported"},
		"a: !foo bar\nb: !foo {c: d}":            {"1 a: the tag !foo is not supported", "2 b: the tag !foo is not supported"},
		"a: !!int b":                             {"1 a: b is not a value of type int"},
		"? [a]\n: b":                             {"1 : a key of a mapping must be a string"},
		"~: b":                                   {"1 : a key of a mapping must be a string"},
		"a: &x\n  b: *x":                         {"2 a.b.b: the alias *x stands for a value that contains it"},
		"a:\n  <<: 1":                            {"2 a: a merge (<<) needs a mapping or a list of mappings"},
		"a:\n  <<: [{b: c}, 1]":                  {"2 a: a merge (<<) needs a mapping or a list of mappings"},
	} {
		_, got := decode(t, text)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestDecoder_aliases_of_aliases_stand_for_a_bounded_number_of_values(t *testing.T) {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 20 {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	_, reports := decode(t, text)
	if len(reports) != 1 || !strings.Contains(reports[0], "stand for more than 100000 values") {
		t.Errorf("want one report, got %v", reports)
	}
}

func TestParse_reports_the_line_that_is_wrong(t *testing.T) {
	for text, want := range map[string]int{
		"a: 1\nb:\n  c: 2\n d: 3\ne: 4\nf: 5\n": 4,
		"a: 1\nb: 2\n\tc: 3\nd: 4\n":            3,
		"a: 1\nb: 2\nc\nd: 4\ne: 5\n":           3,
		"a: 1\nb: [1, 2\nc: 3\nd: 4\n":          2,
		"a: 1\nb: \"xx\nc: 3\n":                 2,
		"a: 1\nb: x: y\nc: 3\n":                 2,
		"a: 1\nb: 'it's'\nc: 3\n":               2,
		"a: 1\nb: @x\nc: 3\n":                   2,
		"a: b: c\nd: e\n":                       1,
		"a: 1\nb: *nope\nc: 3\n":                2,
		"a: 1\nb: \"a\\q\"\nc: 3\n":             2,
		"a: 1\nb: \x01\nc: 3\n":                 2,
		"a: 1\nb: \xff\nc: 3\n":                 2,
		"- a\n- b\nc: d\n":                      3,
		"a: {b: c\n":                            1,
		"a: {b: c}\n}\nd: e\n":                  2,
		"{a: b}\nc: d\n":                        2,
		"%YAML 9.0\n---\na: b\n":                1,
	} {
		r := renderer{}
		if root := r.parse(place{line: 1}, []byte(text), nil); root != nil || len(r.problems) != 1 {
			t.Errorf("%q: want one problem, got %v", text, r.problems)
			continue
		}
		if p := r.problems[0]; p.Line != want || !strings.HasPrefix(p.Cause, "not valid YAML: ") {
			t.Errorf("%q: want line %d, got line %d: %s", text, want, p.Line, p.Cause)
		}
	}
}
