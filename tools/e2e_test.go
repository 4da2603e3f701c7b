package tools

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The suites of a made-up tree are run by the scripts as they are, with a go command that notes what it is asked for.
func TestEverySuiteIsRunOnceOrInTwoHalvesTheLongestFirst(t *testing.T) {
	tree := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		file := filepath.Join(tree, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil { //nolint:gosec // some are run
			t.Fatal(err)
		}
	}
	for _, script := range []string{"e2e.sh", "suite.sh"} {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		put("tools/"+script, string(text))
	}
	packages := []string{"bench", "clusterapi", "engine", "private", "private/worlds"}
	for _, name := range packages {
		put("e2e/"+name+"/suite_test.go", "RunSpecs")
	}
	put("bin/go", "#!/bin/sh\ncase $1 in\nlist) printf 'example.org/e2e/%s\\n' "+strings.Join(packages, " ")+" ;;\ntest) printf '%s\\n' \"$*\" >>called ;;\nesac\n")
	run := exec.CommandContext(t.Context(), "tools/e2e.sh")
	run.Dir, run.Env = tree, append(os.Environ(), "PATH="+filepath.Join(tree, "bin")+":"+os.Getenv("PATH"), "BESIDE=1")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	called, err := os.ReadFile(filepath.Join(tree, "called"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(called)) {
		_, of, _ := strings.Cut(line, "example.org/e2e/")
		fields := strings.Fields(of)
		got = append(got, strings.Join(slices.DeleteFunc(fields, func(field string) bool {
			return field == "-args" || strings.HasPrefix(field, "-ginkgo.json-report=")
		}), " "))
	}
	want := []string{"clusterapi -ginkgo.focus-file=/[a-i][^/]*$", "clusterapi -ginkgo.skip-file=/[a-i][^/]*$", "engine", "private", "bench", "private/worlds"}
	if !slices.Equal(got, want) {
		t.Errorf("run were\n%q, want\n%q", got, want)
	}
}
