package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mark is how labels, annotations, field managers and the ConfigMaps of inputs are written, wherever that is.
var mark = regexp.MustCompile(`capi-operator\.openshift\.io/[A-Za-z][A-Za-z-]*|capi-installer-[a-z-]+`)

// declaring are the rooms whose constants say how marks are called. Others have constants of their own where they may not
// import these, and pages and manifests have the bare text.
var declaring = []string{"phases/acts", "phases/engine/decide", "phases/clusterapi", "phases/render/policy", "phases/bootgate", "phases/golden", "guards/bootimage"}

// former is what tells of the former installer, some of whose objects are called almost like ours.
var former = regexp.MustCompile(`takeover|tombstones`)

func TestNames_a_mark_is_spelt_alike_wherever_it_is_written(t *testing.T) {
	declared, values := map[string]bool{}, map[string]string{}
	for _, file := range filesOf(t, ".go") {
		for name, value := range stringsOf(t, file) {
			if mark.FindString(value) != value {
				continue
			}
			if slices.Contains(declaring, path.Dir(file)) {
				declared[value] = true
			}
			if before := values[strings.ToLower(name)]; before != "" && before != value {
				t.Errorf("%s of %s is %s, and elsewhere %s", name, file, value, before)
			}
			values[strings.ToLower(name)] = value
		}
	}
	if len(declared) < 12 {
		t.Errorf("only %d marks are declared", len(declared))
	}
	seen := 0
	for _, file := range filesOf(t, ".go", ".yaml", ".md") {
		if former.MatchString(file) {
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range mark.FindAllString(string(text), -1) {
			seen++
			if found = strings.TrimRight(found, "-"); !declared[found] {
				t.Errorf("%s has %s, which nothing declares", file, found)
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d marks were found", seen)
	}
}

// filesOf are the files of the product, its manifests and its pages, by how their names end.
func filesOf(t *testing.T, endings ...string) (files []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		switch base := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && name != ".." && (strings.HasPrefix(base, ".") || slices.Contains([]string{"bin", "crds", "e2e", "testdata", "third_party"}, base)):
			return fs.SkipDir
		case !entry.IsDir() && slices.Contains(endings, filepath.Ext(base)) && !strings.HasSuffix(base, "_test.go"):
			files = append(files, filepath.ToSlash(strings.TrimPrefix(name, ".."+string(filepath.Separator))))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// stringsOf are the constants of a file that are texts, by their names.
func stringsOf(t *testing.T, file string) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", file), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is || len(spec.Names) != len(spec.Values) {
			return true
		}
		for i, value := range spec.Values {
			if literal, is := value.(*ast.BasicLit); is && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil {
					found[spec.Names[i].Name] = text
				}
			}
		}
		return true
	})
	return found
}
