// Command newmachine writes the folders of an empty machine: two states, a story,
// and all that the house needs to run and to show it.
package main

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"go/format"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

//go:embed template
var templates embed.FS

// files are those of a machine, by their templates; a star stands for the name, an at sign for the name as a title.
var files = map[string]string{
	"guards.go":          "guards/*/guards.go",
	"guards_test.go":     "guards/*/guards_test.go",
	"table.go":           "machine/*/table.go",
	"table_test.go":      "machine/*/table_test.go",
	"story.txt":          "machine/*/testdata/asked_for_and_withdrawn.txt",
	"phases.go":          "phases/*/phases.go",
	"phases_test.go":     "phases/*/phases_test.go",
	"keep.go":            "phases/*/keep.go",
	"controller.go":      "controllers/*/controller.go",
	"controller_test.go": "controllers/*/controller_test.go",
	"runbook.md":         "docs/runbooks/Capstan@Failing.md",
}

const (
	list  = "controllers/all.go"
	pages = "docs/runbooks/README.md"
	rules = ".golangci.yml"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: newmachine ROOT NAME")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "newmachine:", err)
		os.Exit(1)
	}
}

// write writes the machine into the tree at root, or nothing if it cannot be.
func write(root, name string) error {
	made, err := plan(root, name)
	if err != nil {
		return err
	}
	for path, text := range made {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// plan is what is to be written, by path.
func plan(root, name string) (map[string][]byte, error) {
	if err := refuse(root, name); err != nil {
		return nil, err
	}
	made := map[string][]byte{}
	for from, to := range files {
		text, err := fill(from, name)
		if err != nil {
			return nil, err
		}
		made[strings.NewReplacer("*", name, "@", title(name)).Replace(to)] = text
	}
	var err error
	if made[list], err = changed(root, list, func(text string) (string, error) { return listed(text, name) }); err != nil {
		return nil, err
	}
	if made[pages], err = changed(root, pages, func(text string) (string, error) { return paged(text, name) }); err != nil {
		return nil, err
	}
	made[rules], err = changed(root, rules, func(text string) (string, error) { return ruled(text, name) })
	return made, err
}

var lowercase = regexp.MustCompile(`^[a-z]+$`)

// refuse says why there can be no machine of this name, if so.
func refuse(root, name string) error {
	switch {
	case !lowercase.MatchString(name):
		return fmt.Errorf("the name %q is not of lowercase letters only", name)
	case token.IsKeyword(name), types.Universe.Lookup(name) != nil, slices.Contains([]string{"internal", "main", "testdata", "vendor"}, name):
		return fmt.Errorf("the name %s means something else in Go", name)
	}
	for _, folder := range []string{"guards", "machine", "phases", "controllers"} {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(filepath.Join(root, path)); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("there is a folder %s already", path)
		}
	}
	return nil
}

func fill(from, name string) ([]byte, error) {
	parsed, err := template.ParseFS(templates, "template/"+from+".tmpl")
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = parsed.Execute(&text, map[string]string{"Name": name, "Title": title(name)})
	if err != nil || !strings.HasSuffix(from, ".go") {
		return text.Bytes(), err
	}
	return format.Source(text.Bytes()) // the place of an import depends on the name
}

func title(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

func changed(root, path string, change func(string) (string, error)) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return nil, err
	}
	after, err := change(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return []byte(after), nil
}

const folder = "github.com/capstan-capi/capstan/controllers/"

// imported is a line that imports a package, under the name that comes first, or else the last of its path.
var imported = regexp.MustCompile(`^\t(\w*) ?"(?:.*/)?([\w-]+)"$`)

// listed adds the machine to the list of controllers: its import in alphabetical order, its line at the end.
func listed(text, name string) (string, error) {
	lines := strings.Split(text, "\n")
	var imports []int
	for i, line := range lines {
		if strings.HasPrefix(line, "\t\""+folder) {
			imports = append(imports, i)
		}
		if words := imported.FindStringSubmatch(line); len(words) > 2 && cmp.Or(words[1], words[2]) == name {
			return "", fmt.Errorf("it imports another package %s", name)
		}
	}
	end := slices.Index(lines, "}")
	if len(imports) == 0 || end < 0 || !strings.HasSuffix(lines[end-1], ".Part,") {
		return "", errors.New("it has no list of parts")
	}
	lines = slices.Insert(lines, end, "\t"+name+".Part,")
	line := "\t\"" + folder + name + "\""
	at := imports[len(imports)-1] + 1
	for _, i := range imports {
		if line < lines[i] {
			at = i
			break
		}
	}
	return strings.Join(slices.Insert(lines, at, line), "\n"), nil
}

// paged adds the runbook of the machine's alert to the list of runbooks.
func paged(text, name string) (string, error) {
	const end = "|\n\n"
	page, row := "Capstan"+title(name)+"Failing", strings.LastIndex(text, end)
	if row < 0 {
		return "", errors.New("it has no table of runbooks")
	}
	row += len("|\n")
	return text[:row] + fmt.Sprintf("| [%s](%s.md) | warning | What was asked of the machine %s cannot be kept |\n", page, page, name) + text[row:], nil
}

// ruled adds the rule that closes the machine's folders, a copy of that of clusterapi, after the last rule of depguard.
func ruled(text, name string) (string, error) {
	const model, next = "        folders-of-clusterapi:\n", "\n    errcheck:\n"
	_, rule, found := strings.Cut(text, model)
	end := strings.Index(text, next)
	if !found || end < 0 {
		return "", errors.New("it has no rule folders-of-clusterapi, or nothing after the last rule")
	}
	var lines []string
	for line := range strings.SplitAfterSeq(rule, "\n") {
		if !strings.HasPrefix(line, "          ") {
			break
		}
		lines = append(lines, line)
	}
	return text[:end] + strings.ReplaceAll(model+strings.Join(lines, ""), "clusterapi", name) + text[end:], nil
}
