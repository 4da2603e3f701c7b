package tutorial_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestKubectlTakesTheBinaryForItsPlugin(t *testing.T) {
	bin, err := filepath.Abs(root + "/bin")
	if err != nil {
		t.Fatal(err)
	}
	run(t, root, environment(), "make", "bin/kubectl")
	folder := t.TempDir()
	for _, name := range []string{"kubectl-capstan", "kubectl_complete-capstan"} {
		if err := os.Symlink(filepath.Join(bin, "capstan"), filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	path := append(environment(), "PATH="+folder)
	for words, want := range map[string]string{
		"capstan status --help":         "\n  kubectl capstan status [flags]\n",
		"plugin list":                   filepath.Join(folder, "kubectl-capstan"),
		"__complete capstan hist":       "history\tTells which revisions",
		"__complete capstan status -o ": "json\ntext\n",
	} {
		text := run(t, folder, path, filepath.Join(bin, "kubectl"), strings.Split(words, " ")...)
		if !strings.Contains(text, want) {
			t.Errorf("kubectl %s prints\n%s\nwithout %q", words, text, want)
		}
	}
}

// run is what a command prints; that it fails is an error.
func run(t *testing.T, folder string, environment []string, name string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, arguments...)
	command.Dir, command.Env = folder, environment
	text, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, text)
	}
	return string(text)
}
