// Package docs holds the pages, and the tests of those that are written from the code.
package docs

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/capstan-capi/capstan/message"
)

//go:generate go test -vet=off . -run TestTheTimes -update

var update = flag.Bool("update", false, "write docs/times.md")

const timesIntro = `<!-- Written by docs/times_test.go from the comments of the constants; make generate writes it anew. -->

# Times

Every constant of time that steers what Capstan does, with the first sentence of its comment. One is the default of
a flag: outage, of --open-after. The [diagrams](state-diagrams) show what follows from those of the machines.

The times of the Lease are controller-runtime's defaults: it lasts 15 s, a holder that cannot renew it for 10 s ends, and both
sides try every 2 to 5 s. So another replica takes over 15 to 25 s after the last renewal by one that died, and at its next
try after one that was told to stop.
`

func TestTheTimesAreThoseOfTheCode(t *testing.T) {
	found, err := times("..")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 20 {
		t.Errorf("only %d constants of time were found", len(found))
	}
	for _, c := range found {
		if !strings.HasSuffix(c.says, ".") {
			t.Errorf("%s in %s has no comment that is a sentence: say what it does", c.name, c.file)
		}
	}
	want := timesPage(found)
	if *update {
		if err := os.WriteFile("times.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile("times.md"); err != nil || string(have) != want {
		t.Errorf("docs/times.md is not what the code says (%v): run make generate", err)
	}
}

func TestTimes_finds_every_form_of_a_constant(t *testing.T) {
	source := `package p
import "time"
// alone is one.
const alone = 2 * time.Minute
// both have a comment together.
const (
	// first has its own.
	first = time.Second
	second = first * 3 / 2
	third = 250 * time.Millisecond // third has it behind.
	size = 3
	typed time.Duration = size * time.Hour
)
const none = 5
var later = 3 * time.Hour
`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	found, err := times(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []constant{
		{"p.go", "alone", 2 * time.Minute, "alone is one."},
		{"p.go", "first", time.Second, "first has its own."},
		{"p.go", "second", 1500 * time.Millisecond, "both have a comment together."},
		{"p.go", "third", 250 * time.Millisecond, "third has it behind."},
		{"p.go", "typed", 3 * time.Hour, "both have a comment together."},
	}
	if !slices.Equal(found, want) {
		t.Errorf("got %v", found)
	}
}

// timesPage writes a section per package, in which constants come in the order of the code.
func timesPage(found []constant) string {
	var b strings.Builder
	b.WriteString(timesIntro)
	folder := ""
	for _, c := range found {
		if dir := path.Dir(c.file); dir != folder {
			folder = dir
			fmt.Fprintf(&b, "\n## %s\n\n| Constant | Value | What it does |\n|---|---|---|\n", folder)
		}
		fmt.Fprintf(&b, "| [`%s`](../%s) | %s | %s |\n", c.name, c.file, message.Duration(c.value), strings.ReplaceAll(c.says, "|", `\|`))
	}
	return b.String()
}

// constant is a constant of time on the level of a package.
type constant struct {
	file, name string
	value      time.Duration
	says       string
}

// times returns the constants of time of what is shipped, sorted by folder and file.
func times(root string) ([]constant, error) {
	packages := map[string][]string{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			switch base := entry.Name(); {
			case name == root:
			case strings.HasPrefix(base, "."), base == "bin", base == "e2e", base == "machinetest", base == "packaging", base == "steered", base == "testdata", base == "tools":
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			packages[filepath.Dir(name)] = append(packages[filepath.Dir(name)], name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var found []constant
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		here, err := timesOf(root, packages[dir])
		if err != nil {
			return nil, err
		}
		found = append(found, here...)
	}
	return found, nil
}

// timesOf returns the constants of time in the files of one package.
func timesOf(root string, files []string) ([]constant, error) {
	p := pack{values: map[string]ast.Expr{}}
	var found []constant
	var specs []func()
	slices.Sort(files)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return nil, err
		}
		for _, declaration := range parsed.Decls {
			group, ok := declaration.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, s := range group.Specs {
				spec := s.(*ast.ValueSpec)
				for i, value := range spec.Values {
					constantName := spec.Names[i].Name
					p.values[constantName] = value
					specs = append(specs, func() {
						if p.isTime(value) {
							found = append(found, constant{
								file: filepath.ToSlash(name), name: constantName, value: time.Duration(p.number(value)), says: sentence(spec, group),
							})
						}
					})
				}
			}
		}
	}
	// Only now are all names of the package known.
	for _, look := range specs {
		look()
	}
	return found, nil
}

// sentence is the first one of a constant's own comment, or of the one that its group has.
func sentence(spec *ast.ValueSpec, group *ast.GenDecl) string {
	comment := cmp.Or(spec.Doc, spec.Comment, group.Doc)
	text := strings.Join(strings.Fields(comment.Text()), " ")
	if first, _, more := strings.Cut(text, ". "); more {
		return first + "."
	}
	return text
}

var units = map[string]time.Duration{
	"Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
}

// pack is what is known of the constants of one package.
type pack struct{ values map[string]ast.Expr }

// isTime reports whether an expression has a unit of time in it.
func (p pack) isTime(expression ast.Expr) bool {
	timed := false
	ast.Inspect(expression, func(n ast.Node) bool {
		switch e := n.(type) {
		case *ast.SelectorExpr:
			from, ok := e.X.(*ast.Ident)
			timed = timed || ok && from.Name == "time" && units[e.Sel.Name] > 0
			return false // a name of another package
		case *ast.Ident:
			value, known := p.values[e.Name]
			timed = timed || known && p.isTime(value)
		}
		return true
	})
	return timed
}

// number computes the sums, products and quotients that such constants are made of; what it does not know is 0.
func (p pack) number(expression ast.Expr) int64 {
	switch e := expression.(type) {
	case *ast.BasicLit:
		value, _ := strconv.ParseInt(e.Value, 0, 64)
		return value
	case *ast.Ident:
		return p.number(p.values[e.Name])
	case *ast.SelectorExpr:
		return int64(units[e.Sel.Name])
	case *ast.ParenExpr:
		return p.number(e.X)
	case *ast.BinaryExpr:
		a, b := p.number(e.X), p.number(e.Y)
		switch {
		case e.Op == token.ADD:
			return a + b
		case e.Op == token.SUB:
			return a - b
		case e.Op == token.MUL:
			return a * b
		case e.Op == token.QUO && b != 0:
			return a / b
		}
	}
	return 0
}
