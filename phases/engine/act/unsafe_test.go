package act

import (
	"fmt"
	"strings"
	"testing"
)

func TestShortened_names_the_first_of_many_and_both_ends_of_what_is_long(t *testing.T) {
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf("spec.field-%04d.%s.leaf-%04d", i, strings.Repeat("x", 1000), i))
	}
	for want, names := range map[string][]string{
		"":                         nil,
		"v1":                       {"v1"},
		"a, b, c":                  {"a", "b", "c"},
		"a, b, c and 2 more":       {"a", "b", "c", "d", "e"},
		"spec.field-0000.xxxxxxxx": many,
	} {
		got := shortened(names)
		if !strings.HasPrefix(got, want) || len(names) < 10 && got != want {
			t.Errorf("%q is shortened to %q", names, got)
		}
		if len(names) > 10 && (!strings.HasSuffix(got, "xxx.leaf-0002 and 997 more") || len(got) > namedAtMost*(namedBytes+2)+20) {
			t.Errorf("%d names are shortened to %d bytes: %s", len(names), len(got), got)
		}
	}
}
