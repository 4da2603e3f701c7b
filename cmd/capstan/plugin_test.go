package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// called is what the binary prints when it is called by these words.
func called(t *testing.T, words ...string) (string, error) {
	t.Helper()
	cmd, out := root(), &bytes.Buffer{}
	cmd.SetArgs(words[1:])
	asPlugin(cmd, words)
	cmd.SetOut(out)
	cmd.SetErr(&bytes.Buffer{})
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestPlugin_is_told_as_it_is_typed(t *testing.T) {
	text, err := called(t, "/usr/local/bin/kubectl-capstan", "status", "--help")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  kubectl capstan status [flags]", "  kubectl capstan status --watch\n", "-n, --namespace", "--context", "--kubeconfig"} {
		if !strings.Contains(text, want) {
			t.Errorf("the help does not have %q:\n%s", want, text)
		}
	}
	if text, err = called(t, "capstan", "status", "--help"); err != nil || strings.Contains(text, "kubectl capstan") || strings.Contains(text, "--namespace") {
		t.Errorf("by its own name it is told as a plugin (%v):\n%s", err, text)
	}
}

func TestPlugin_takes_the_namespace_for_the_operators(t *testing.T) {
	cmd := root()
	asPlugin(cmd, []string{"kubectl-capstan"})
	history, arguments, err := cmd.Find([]string{"history", "-n", "ops"})
	if err != nil {
		t.Fatal(err)
	}
	if err := history.ParseFlags(arguments); err != nil || typedFlag(history, "operator-namespace") != "ops" {
		t.Errorf("the operator's namespace is %q (%v)", typedFlag(history, "operator-namespace"), err)
	}
}

func TestPlugin_completes_under_its_other_name(t *testing.T) {
	text, err := called(t, "kubectl_complete-capstan", "hist")
	if err != nil || !strings.HasPrefix(text, "history\t") || !strings.HasSuffix(text, ":4\n") {
		t.Errorf("it completes %q (%v)", text, err)
	}
	text, err = called(t, "kubectl_complete-capstan", "status", "--machine", "compat")
	if err != nil || !slices.Contains(strings.Split(text, "\n"), "compatibility") {
		t.Errorf("it completes %q (%v)", text, err)
	}
}
