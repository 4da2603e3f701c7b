package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/cmd/capstan/payload"
	made "github.com/capstan-capi/capstan/deploy/payload"
)

// brokenPayload is a payload with three replicas, and the file that says so.
func brokenPayload(t *testing.T) (dir, name string) {
	t.Helper()
	dir = t.TempDir()
	if err := made.Write(dir); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*_deployment.yaml"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(found[0], []byte(strings.Replace(string(text), "replicas: 1", "replicas: 3", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Base(found[0])
}

func TestLint_of_a_payload_says_that_there_is_no_problem(t *testing.T) {
	dir := t.TempDir()
	if err := made.Write(dir); err != nil {
		t.Fatal(err)
	}
	if out := mustCapstan(t, "lint", "--payload", dir); !strings.HasPrefix(out, "no problem in ") || !strings.HasSuffix(out, " objects\n") {
		t.Errorf("got %q", out)
	}
}

func TestLint_of_a_payload_names_the_place_and_fails(t *testing.T) {
	dir, name := brokenPayload(t)
	out, _, err := capstan(t, "lint", "--payload", dir)
	if err == nil || !strings.HasPrefix(err.Error(), "1 problem in ") {
		t.Errorf("got %v", err)
	}
	if want := fmt.Sprintf("file %s, document 1, line ", name); !strings.HasPrefix(out, want) || !strings.Contains(out, ", field spec.replicas, rule replicas: is 3") {
		t.Errorf("got %s", out)
	}
	out, _, err = capstan(t, "lint", "--payload", dir, "-o", "json")
	var report payload.Report
	if err == nil || json.Unmarshal([]byte(out), &report) != nil || len(report.Problems) != 1 || report.Problems[0].Rule != "replicas" {
		t.Errorf("got %s, %v", out, err)
	}
}

func TestLint_of_a_payload_refuses_command_lines_that_make_no_sense(t *testing.T) {
	for want, args := range map[string][]string{
		"leave the images out":            {"lint", "--payload", t.TempDir(), "image"},
		`"xml" is neither text nor json`:  {"lint", "--payload", t.TempDir(), "-o", "xml"},
		"reading the payload: open .: no": {"lint", "--payload", "/not/there"},
	} {
		if _, _, err := capstan(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %s", args, err, want)
		}
	}
}
