package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var variables = map[string]string{"A": "alpha", "EMPTY": "", "ARN": "arn:aws:iam::1:role/r", "PATH": "a/b.c/d.e", "LINES": "x\ny\nz"}

func expand(text string) (string, []shift, ProblemsError) {
	r := renderer{substitutions: variables, strict: true}
	out, moved := r.expand(place{line: 1}, []byte(text))
	return string(out), moved, r.problems.sorted()
}

func TestExpand_replaces_what_real_providers_write(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"no variable":               "no variable",
		"${A}":                      "alpha",
		"x ${A} y ${A} z":           "x alpha y alpha z",
		"${A:=other}":               "alpha",
		"${B:=other}":               "other",
		"${B:-other}":               "other",
		"${B=other}":                "other",
		"${EMPTY}":                  "",
		"${EMPTY:=other}":           "other",
		"${B:=}":                    "",
		`${B:=""}`:                  `""`,
		"${B:=:8443}":               ":8443",
		"${B:=a${A}b}":              "aalphab",
		"${A:=${B}}":                "alpha",
		"${B:=${EMPTY:=${A}}}":      "alpha",
		"EKS=${A:=true},M=${B:=f}":  "EKS=alpha,M=f",
		"${ARN/#arn/key: arn}":      "key: arn:aws:iam::1:role/r",
		"${B/#arn/key: arn}":        "",
		"${A/#arn/key: arn}":        "alpha",
		"${PATH/%d.e/x}":            "a/b.c/x",
		"${PATH/b/x}":               "a/x.c/d.e",
		"${PATH//./-}":              "a/b-c/d-e",
		`${PATH/\/b/+}`:             "a+.c/d.e",
		"${PATH#*/}":                "b.c/d.e",
		"${PATH##*/}":               "d.e",
		"${PATH%.*}":                "a/b.c/d",
		"${A^}":                     "Alpha",
		"${A^^}":                    "ALPHA",
		"${A,,}":                    "alpha",
		"${#A}":                     "5",
		"${A:1:2}":                  "lp",
		"${A:1:-1}":                 "lph",
		"${A:1:-9}":                 "",
		"${A:?must be set}":         "alpha",
		"${B:=https://a.b/c?d=e&f}": "https://a.b/c?d=e&f",
	} {
		if got, _, found := expand(in); got != want || len(found) > 0 {
			t.Errorf("%s: want %q, got %q, problems %v", in, want, got, found)
		}
	}
}

func TestExpand_leaves_alone_what_is_not_a_variable(t *testing.T) {
	for in, want := range map[string]string{
		"$A $ $$ $$(A) $(A) a$": "",
		"^[a-z]+$":              "",
		"${{":                   "unclosed",
		"$${A}":                 "${A}",
		"$$${A}":                "$alpha",
		"$$$${A}":               "$${A}",
		"$$ $${A} ${A}":         "$$ ${A} alpha",
		"${A}$$":                "alpha$$",
		"${A}$${A}":             "alpha${A}",
		`a\/b \\ ${A} \/`:       `a\/b \\ alpha \/`,
		"} ${A} }":              "} alpha }",
		"\x00 ${A} tail":        "\x00 alpha tail",
	} {
		got, _, found := expand(in)
		if want == "unclosed" {
			if len(found) != 1 || !strings.Contains(found[0].Cause, "not closed") {
				t.Errorf("%q: want an unclosed expression reported, got %q, %v", in, got, found)
			}
			continue
		}
		if want == "" {
			want = in
		}
		if got != want || len(found) > 0 {
			t.Errorf("%q: want %q, got %q, problems %v", in, want, got, found)
		}
	}
}

func TestExpand_reports_variable_and_line_and_goes_on(t *testing.T) {
	for in, want := range map[string][]string{
		"a\nb ${B}\nc ${C} ${A}":               {"2 variable B has neither", "3 variable C has neither"},
		"${A:-${B}}${B:-${C}}":                 {"1 variable C has neither"},
		"${B^^}${#C}":                          {"1 variable B has neither", "1 variable C has neither"},
		"${B:?ask the vendor}":                 {"1 variable B is required and not set: ask the vendor"},
		"${EMPTY:?ask}":                        {"1 variable EMPTY is required and not set: ask"},
		"${B:+x}":                              {"1 ${B:+...} is not supported"},
		"${}":                                  {"1 ${} is not a substitution"},
		"${A B}":                               {"1 ${A B} is not a substitution"},
		"${A-B}":                               {"1 ${A-B} is not a substitution"},
		"${A/x}":                               {"1 ${A/x} is not a substitution"},
		"${A:9223372036854775807:1}":           {"1 ${A:9223372036854775807:1} is not a substitution"},
		"\n${A\x00}":                           {"2 ${A\ufffd} is not a substitution"},
		"${LINES}\n${B}":                       {"2 variable B has neither"},
		"${B:=a\nb}\n${C}":                     {"3 variable C has neither"},
		"a\n${A":                               {"2 a ${ is not closed"},
		"${" + strings.Repeat("A", 5000) + "}": {"1 a ${ is not closed within 4096"},
	} {
		_, _, found := expand(in)
		var got []string
		for i, p := range found {
			text := fmt.Sprintf("%d %s", p.Line, p.Cause)
			if i < len(want) {
				text = text[:min(len(text), len(want[i]))]
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", in, diff)
		}
	}
}

func TestExpand_remembers_how_lines_moved(t *testing.T) {
	// Original lines: 1 a, 2 value of three lines, 3 b, 4-5 value of one, 6 c.
	out, moved, _ := expand("a\n${LINES} end\nb\n${A:=p\nq} end\nc\n")
	want := "a\nx\ny\nz end\nb\nalpha end\nc\n"
	if out != want {
		t.Fatalf("want %q, got %q", want, out)
	}
	for line, from := range map[int]int{1: 1, 2: 2, 4: 2, 5: 3, 6: 5, 7: 6} {
		if got := original(moved, line); got != from {
			t.Errorf("line %d of the expanded text: want %d, got %d", line, from, got)
		}
	}
}

func TestRender_AWS_role_makes_an_annotation_only_when_it_is_set(t *testing.T) {
	in := Input{Profiles: testdata(t, "aws"), Platform: "AWS", Substitutions: map[string]string{"AWS_B64ENCODED_CREDENTIALS": "", "EXP_BOOTSTRAP_FORMAT_IGNITION": "true"}}
	annotations := func() map[string]string { return mustRender(t, in).Components[0].Objects[0].GetAnnotations() }
	if got := annotations(); got != nil {
		t.Errorf("want no annotation, got %v", got)
	}
	in.Substitutions["AWS_CONTROLLER_IAM_ROLE"] = "arn:aws:iam::1:role/r"
	want := map[string]string{"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/r"}
	if diff := cmp.Diff(want, annotations()); diff != "" {
		t.Error(diff)
	}
	deployment := mustRender(t, in).Components[0].Objects[2]
	containers, _, err := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	if err != nil {
		t.Fatal(err)
	}
	args := containers[0].(map[string]any)["args"]
	if diff := cmp.Diff([]any{"--feature-gates=EKS=true,BootstrapFormatIgnition=true", "--v=0"}, args); diff != "" {
		t.Error(diff)
	}
}

func TestRender_a_value_can_break_YAML_but_not_begin_another_document(t *testing.T) {
	in := Input{Profiles: []Profile{manifests("---\n" + configMap("${N}"))}}
	for value, want := range map[string]string{
		"a: b":                          "not valid YAML: mapping values are not allowed",
		"[a":                            "not valid YAML: did not find",
		"a\n---\n" + configMap("b"):     "a second YAML document begins here",
		"a\n...\n" + configMap("b"):     "not valid YAML: did not find expected <document start>",
		"a\x00b":                        "not valid YAML: control characters are not allowed",
		"\xff":                          "not valid UTF-8",
		strings.Repeat("a", 100) + "\t": "",
	} {
		in.Substitutions = map[string]string{"N": value}
		if want == "" {
			mustRender(t, in)
			continue
		}
		if found := problems(t, in); !strings.Contains(found.Error(), want) {
			t.Errorf("%q: want %q, got %v", value, want, found)
		}
	}
}
