package tools

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// reasoned is what docs/dependencies.md has a reason for, by section.
func reasoned(t *testing.T, page string) map[string]map[string]string {
	t.Helper()
	rows := regexp.MustCompile("^\\| `([^`]+)` \\| (.+) \\|$")
	all, section := map[string]map[string]string{}, ""
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "## "); ok && strings.HasSuffix(name, "go.mod") {
			section = name
			all[section] = map[string]string{}
		}
		found := rows.FindStringSubmatch(line)
		if found == nil || section == "" {
			continue
		}
		if all[section][found[1]] != "" {
			t.Errorf("%s is twice among those of %s", found[1], section)
		}
		all[section][found[1]] = found[2]
	}
	return all
}

func TestEveryDirectDependencyHasAReason(t *testing.T) {
	page, err := os.ReadFile("../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	told := reasoned(t, string(page))
	for _, file := range modules(t) {
		if told[file] == nil {
			t.Errorf("docs/dependencies.md has no section %q", "## "+file)
			continue
		}
		direct := directly(t, "../"+file)
		for _, path := range direct {
			if told[file][path] == "" {
				t.Errorf("docs/dependencies.md has no reason for %s in %s", path, file)
			}
		}
		for _, path := range slices.Sorted(maps.Keys(told[file])) {
			if !slices.Contains(direct, path) {
				t.Errorf("docs/dependencies.md has a reason for %s, which %s does not require directly", path, file)
			}
		}
		delete(told, file)
	}
	for _, file := range slices.Sorted(maps.Keys(told)) {
		t.Errorf("docs/dependencies.md has a section for %s, which is not there", file)
	}
}

// A builder that has an older Go fetches this one, with the fixes of its standard library.
func TestEveryModuleNamesTheSameToolchain(t *testing.T) {
	seen := map[string]string{}
	for _, file := range modules(t) {
		m := edited(t, "../"+file)
		if m.Toolchain == "" {
			t.Errorf("%s names no toolchain", file)
		}
		seen[m.Go+", "+m.Toolchain] = file
	}
	if len(seen) != 1 {
		t.Errorf("the modules differ in their Go: %v", seen)
	}
}

// What is run on a cluster needs neither kustomize nor AWS and the test frameworks, and its tests neither. Cluster API is what the
// kinds of OpenShift clusters are made of: that the operator has none of it, [TestTheOperatorDoesNotLinkClusterAPI] sees.
func TestTheProductsGraphIsTheProducts(t *testing.T) {
	foreign := regexp.MustCompile(`^(sigs\.k8s\.io/(kustomize|cluster-api-provider)|github\.com/spdx/|github\.com/in-toto/|github\.com/golangci/|k8s\.io/kubernetes$)`)
	for _, path := range listed(t, "-m", "-f", "{{.Path}}", "all") {
		if foreign.MatchString(path) {
			t.Errorf("%s is in the product's graph: `go mod why -m %s` tells how it came there", path, path)
		}
	}
	// The graph names modules of AWS, because one that is needed names them for programs of its own. Ignition's newer versions read
	// names of AWS, and are what a payload is made of: whatever of the provider links that is not asked.
	var rooms []string
	for _, linked := range listed(t, "-f", `{{.ImportPath}}{{range .Deps}},{{.}}{{end}}`, "./...") {
		if !strings.Contains(linked, "/phases/payload") {
			path, _, _ := strings.Cut(linked, ",")
			rooms = append(rooms, path)
		}
	}
	for _, path := range listed(t, append([]string{"-deps", "-test"}, rooms...)...) {
		if strings.HasPrefix(path, "github.com/aws/") {
			t.Errorf("the product or a test of it needs %s: `go mod why %s` tells why", path, path)
		}
	}
}

// listed is what `go list` says in the product's module, a line each.
func listed(t *testing.T, arguments ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, arguments...)...)
	cmd.Dir = ".."
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("asking for %v: %v", arguments, err)
	}
	return strings.Fields(string(text))
}

// modules are the go.mod files of this tree.
func modules(t *testing.T) []string {
	t.Helper()
	var files []string
	root := os.DirFS("..")
	err := fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (name == "bin" || e.Name() == "testdata" || name != "." && strings.HasPrefix(e.Name(), ".")):
			return fs.SkipDir
		case e.Name() == "go.mod":
			files = append(files, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

type goMod struct {
	Go, Toolchain string
	Require       []struct {
		Path     string
		Indirect bool
	}
	Tool []struct{ Path string }
}

func edited(t *testing.T, file string) goMod {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json", file).Output()
	if err != nil {
		t.Fatalf("reading %s: %v", file, err)
	}
	var m goMod
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// directly is what a module requires for itself: what its packages import, and its tools.
func directly(t *testing.T, file string) []string {
	t.Helper()
	m := edited(t, file)
	var paths []string
	for _, r := range m.Require {
		if !r.Indirect && !strings.HasPrefix(r.Path, "github.com/capstan-capi/") {
			paths = append(paths, r.Path)
		}
	}
	for _, tool := range m.Tool {
		if !slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(tool.Path, path+"/") }) {
			paths = append(paths, tool.Path)
		}
	}
	slices.Sort(paths)
	return paths
}
