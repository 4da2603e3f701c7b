package judge_test

import (
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/crdschema/judge"
)

func TestCompileRules_says_which_rules_would_refuse_every_object(t *testing.T) {
	rule := func(rule string) string { return `x-kubernetes-validations: [{rule: "` + rule + `"}]` }
	for name, c := range map[string]struct {
		spec string
		want []string
	}{
		"no rules":     {`{type: object}`, nil},
		"good ones":    {`{type: object, ` + rule("has(self.x)") + `, properties: {x: {type: string, ` + rule("self == oldSelf") + `}}}`, nil},
		"a bad one":    {`{type: object, properties: {x: {type: string, ` + rule("self.b") + `}}}`, []string{`version v1: x-kubernetes-validations: rule "self.b": compilation failed`}},
		"in a list":    {`{type: object, properties: {x: {type: array, items: {type: string, ` + rule("self.b") + `}}}}`, []string{`"self.b"`}},
		"in a map":     {`{type: object, additionalProperties: {type: string, ` + rule("self") + `}}`, []string{"must evaluate to a bool"}},
		"several ones": {`{type: object, ` + rule("b") + `, properties: {x: {type: string, ` + rule("a") + `}}}`, []string{`rule "a"`, `rule "b"`}},
	} {
		t.Run(name, func(t *testing.T) {
			err := judge.CompileRules(decoded(t, definition(c.spec, knownStatus)), "v1")
			if (err == nil) != (len(c.want) == 0) {
				t.Fatal(err)
			}
			for _, text := range c.want {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%v lacks %q", err, text)
				}
			}
		})
	}
}
