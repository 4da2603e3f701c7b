package render

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		want []string // number line text
	}{
		"an empty file has no document":           {"", nil},
		"a file without markers is one document":  {"a: 1\n", []string{"1 1 a: 1\n"}},
		"a marker begins a document":              {"a: 1\n---\nb: 1\n", []string{"1 1 a: 1\n", "2 2 ---\nb: 1\n"}},
		"a leading marker makes no document":      {"---\na: 1\n", []string{"1 1 ---\na: 1\n"}},
		"leading comments belong to the first":    {"# x\n\n---\na: 1\n", []string{"1 1 # x\n\n---\na: 1\n"}},
		"directives belong to what follows":       {"%YAML 1.1\n---\na: 1\n", []string{"1 1 %YAML 1.1\n---\na: 1\n"}},
		"an empty document is counted":            {"a\n---\n---\nb", []string{"1 1 a\n", "2 2 ---\n", "3 3 ---\nb"}},
		"a trailing marker makes an empty one":    {"a\n---\n", []string{"1 1 a\n", "2 2 ---\n"}},
		"a marker may be followed by text":        {"a\n--- # b\nc\n", []string{"1 1 a\n", "2 2 --- # b\nc\n"}},
		"a marker may end with the file":          {"a\n---", []string{"1 1 a\n", "2 2 ---"}},
		"carriage returns are line ends":          {"a\r\n---\r\nb\r\n", []string{"1 1 a\r\n", "2 2 ---\r\nb\r\n"}},
		"an indented marker is text":              {"a: |\n  ---\n  b\n", []string{"1 1 a: |\n  ---\n  b\n"}},
		"more than three dashes are text":         {"a: |\n ---\n----\n---b\n", []string{"1 1 a: |\n ---\n----\n---b\n"}},
		"three dots end a document":               {"a\n...\nb\n", []string{"1 1 a\n", "2 3 b\n"}},
		"dots and dashes end a document together": {"a\n...\n---\nb\n", []string{"1 1 a\n", "2 3 ---\nb\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, d := range split([]byte(c.file)) {
				got = append(got, fmt.Sprintf("%d %d %s", d.number, d.line, d.text))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
