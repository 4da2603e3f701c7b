package main

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"
	"unicode"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/capstan/support/archive"
	"github.com/capstan-capi/capstan/message"
)

func TestFrom_is_in_place_of_a_cluster(t *testing.T) {
	for _, target := range []inspect.Target{
		{Access: inspect.Access{Kubeconfig: "a"}}, {Access: inspect.Access{Context: "b"}}, {Access: inspect.Access{As: "c"}},
	} {
		if _, err := (&fromFlag{from: "d"}).use(&target); err == nil || target.Instead != nil {
			t.Errorf("both are taken: %v", err)
		}
	}
}

func TestFrom_prints_nothing_that_controls_a_terminal_whatever_an_archive_says(t *testing.T) {
	const hostile = `\u001b[2J\u009b2J\u202e\u0007\r`
	b := archive.NewBuilder(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), "v1")
	b.Add("clusterapi.json", []byte(`{"metadata":{"name":"cluster"},"status":{"desiredRevision":"`+hostile+`","revisions":[{"name":"`+hostile+`","revision":1,
		"components":[{"name":"`+hostile+`"}]}]}}`))
	b.Add("clusteroperator.json", []byte(`{"metadata":{"name":"cluster-api"},"status":{"conditions":[{"type":"`+hostile+`","status":"`+hostile+`","reason":"`+hostile+`",
		"message":"`+hostile+`"}],"extension":{"clusterapi":{"state":"Installed","since":"2026-01-01T11:00:00Z","reason":"`+hostile+`",
		"transitions":[{"from":"`+hostile+`","event":"`+hostile+`","to":"`+hostile+`","cause":"`+hostile+`"}]},
		"clusterapiDetail":{"waits":"`+hostile+`","findings":["`+hostile+`"],"strays":["`+hostile+`"],"moves":[{"event":"ContentChanged","to":"Planning","why":"`+hostile+`"}]}}}}`))
	b.Add("requirements.json", []byte(`[{"metadata":{"name":"`+hostile+`"}}]`))
	b.Add("recorder.jsonl", []byte(`{"at":"2026-01-01T12:00:00Z","kind":"`+hostile+`","machine":"`+hostile+`","object":"`+hostile+`","text":"`+hostile+`"}
		{"at":"2026-01-01T12:00:00Z","kind":"transition","machine":"`+hostile+`","decision":{"at":"2026-01-01T12:00:00Z","state":"`+hostile+`","event":"`+hostile+`",
		"answers":[{"guard":"`+hostile+`","answer":"Yes","why":"`+hostile+`"}]}}`))
	b.Miss("history.json", "it is not there", "")
	file := filepath.Join(t.TempDir(), "forged.tar.gz")
	if err := b.Create(file); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"status"},
		{"status", "-o", "json"},
		{"explain"},
		{"explain", "-o", "json"},
		{"replay"},
		{"replay", "-o", "json"},
		{"status", "--machine", "compatibility"},
		{"status", "--machine", "compatibility", "--key", "other"},
		{"status", "--machine", "bootimage", "--key", "machineset/a"},
	} {
		var out bytes.Buffer
		cmd := root()
		cmd.SetOut(&out)
		cmd.SetArgs(append(args, "--from", file))
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			out.WriteString(message.Lines(err.Error())) // as main prints it
		}
		if out.Len() < 50 {
			t.Errorf("%s prints %q", args, out.String())
		}
		for _, r := range out.String() {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Errorf("%s prints %q: %s", args, r, out.String())
				break
			}
		}
	}
}
