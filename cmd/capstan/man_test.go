package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/capstan-capi/capstan/cmd/manual"
)

// pages are the manual pages that are written, by name.
func pages(t *testing.T) map[string]string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "man1")
	if _, err := called(t, "capstan", "man", folder); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(folder, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[file.Name()] = string(text)
	}
	return all
}

func TestMan_has_a_page_for_each_command_with_all_of_its_flags(t *testing.T) {
	written := pages(t)
	visit(root(), func(cmd *cobra.Command) {
		text := written[strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"]
		if text == "" {
			t.Errorf("%s has no page", cmd.CommandPath())
			return
		}
		for _, want := range []string{".SH NAME\n", manual.Roff(cmd.Short), ".SH SYNOPSIS\n", ".SH DESCRIPTION\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("the page of %s does not have %q", cmd.CommandPath(), want)
			}
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(text, `\fB`+manual.Roff("--"+f.Name)+`\fR`) {
				t.Errorf("the page of %s does not have --%s", cmd.CommandPath(), f.Name)
			}
		})
	})
	if status := written["capstan-status.1"]; !strings.Contains(status, "\n  0     Installed                               Met\n") {
		t.Errorf("the table of exit codes is no table any more:\n%s", status)
	}
}

func TestMan_has_no_requests_but_its_own_and_nothing_of_who_writes_it(t *testing.T) {
	requests := regexp.MustCompile(`^\.(TH|SH|PP|TP|nf|fi)\b`)
	again := pages(t)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "elsewhere"))
	t.Setenv("RELEASE_VERSION", "4.22.9")
	for name, text := range pages(t) {
		if again[name] != text {
			t.Errorf("%s is another one for somebody else", name)
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !requests.MatchString(line) {
				t.Errorf("%s has the request %q", name, line)
			}
		}
	}
}
