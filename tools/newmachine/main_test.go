package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// copied is a copy of the tree that may be changed, without what was built.
func copied(t *testing.T) string {
	t.Helper()
	root, to := filepath.Join("..", ".."), t.TempDir()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		switch name := entry.Name(); {
		case name == ".git" || name == "bin":
		case entry.IsDir():
			if err := os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(root, name))); err != nil {
				t.Fatal(err)
			}
		default:
			text, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(to, name), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return to
}

// run runs a command in a folder, and returns what it prints.
func run(t *testing.T, in string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = in
	// The copy is no repository, and make's own settings of the run outside are not meant for it.
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS") }), "GOFLAGS=-buildvcs=false", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return string(out)
}

func TestNewMachine_builds_and_passes_all_that_is_asked_of_a_machine(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	tree := copied(t)
	run(t, tree, "make", "new-machine", "NAME=lanterns")

	own := []string{"./machine/lanterns/...", "./guards/lanterns/...", "./phases/lanterns/...", "./controllers/lanterns/..."}
	run(t, tree, append([]string{"go", "build", "./cmd/..."}, own...)...)
	run(t, tree, append([]string{"go", "vet", "./controllers/..."}, own...)...)
	run(t, tree, append([]string{"go", "test", "./controllers/...", "./docs"}, own...)...)
	if shown := run(t, tree, "go", "run", "./cmd/capstan", "diagram", "--machine", "lanterns"); !strings.Contains(shown, "Idle --> Ready: Requested [Asked]") {
		t.Errorf("its diagram is\n%s", shown)
	}

	run(t, root, "make", "bin/golangci-lint")
	lint := filepath.Join(root, "bin", "golangci-lint")
	run(t, tree, append([]string{lint, "run", "--allow-parallel-runners", "--enable-only", "depguard", "./controllers/..."}, own...)...)
	run(t, tree, append([]string{lint, "fmt", "--diff"}, "machine/lanterns", "guards/lanterns", "phases/lanterns", "controllers")...)

	// The rules close its folders to others.
	foreign := "package clusterapi\n\nimport _ \"github.com/capstan-capi/capstan/guards/lanterns\"\n"
	if err := os.WriteFile(filepath.Join(tree, "guards", "clusterapi", "foreign.go"), []byte(foreign), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), lint, "run", "--allow-parallel-runners", "--enable-only", "depguard", "./guards/clusterapi")
	cmd.Dir = tree
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "it is the machine lanterns's own") {
		t.Errorf("another machine may import it: %v\n%s", err, out)
	}

	if err := write(tree, "lanterns"); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("it is written twice: %v", err)
	}
}

func TestNewMachine_refuses_names_that_are_none(t *testing.T) {
	root := filepath.Join("..", "..")
	for name, want := range map[string]string{
		"": "not of lowercase letters", "Lanterns": "not of lowercase letters", "high-tide": "not of lowercase letters", "tide2": "not of lowercase letters", "../lanterns": "not of lowercase letters",
		"clusterapi": "already", "house": "already", "recorder": "already", "machinetest": "already", "clusteroperator": "already",
		"type": "means something else", "string": "means something else", "main": "means something else", "fmt": "imports another package fmt", "ctrl": "imports another package ctrl",
	} {
		if _, err := plan(root, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestNewMachine_keeps_the_list_in_order(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", list))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"aaa", "clusterb", "zzz"} {
		after, err := listed(string(text), name)
		if err != nil {
			t.Fatal(err)
		}
		var imports []string
		for line := range strings.SplitSeq(after, "\n") {
			if strings.HasPrefix(line, "\t\""+folder) {
				imports = append(imports, line)
			}
		}
		if !slices.IsSorted(imports) || !strings.Contains(after, "\t"+name+".Part,\n}\n") {
			t.Errorf("%s:\n%s", name, after)
		}
	}
}
