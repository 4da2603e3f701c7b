package tools

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The race detector has nothing to look at in a package that starts nothing beside itself, and makes its tests take many times as long.
func TestPackagesWithoutTheRaceDetectorStartNothingBesideThem(t *testing.T) {
	text, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^ALONE := (.+)$`).FindSubmatch(text)
	if list == nil {
		t.Fatal("the Makefile does not say which packages these are")
	}
	for pattern := range strings.FieldsSeq(string(list[1])) {
		files, err := filepath.Glob(filepath.Join("..", pattern, "*.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s has no files: %v", pattern, err)
		}
		for _, file := range files {
			for _, start := range starts(t, file) {
				t.Errorf("%s starts something that runs beside it: take %s off the list", start, pattern)
			}
		}
	}
}

// starts are the places in a file where something may be started that runs beside it.
func starts(t *testing.T, file string) (places []string) {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.GoStmt:
			places = append(places, files.Position(n.Pos()).String())
		case *ast.CallExpr:
			if called, is := n.Fun.(*ast.SelectorExpr); is && (called.Sel.Name == "Go" || called.Sel.Name == "Parallel" || called.Sel.Name == "AfterFunc") {
				places = append(places, files.Position(n.Pos()).String())
			}
		}
		return true
	})
	return places
}
