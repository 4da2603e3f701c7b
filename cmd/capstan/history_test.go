package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/capstan-capi/capstan/cmd/capstan/asking"
	"github.com/capstan-capi/capstan/phases/history"
)

// past is what an operator of 4.22 remembers: it went back once, and came from another minor release.
func past() history.History {
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	h := history.History{Lost: true, Began: at, Revisions: []history.Revision{
		{Number: 1, Name: "4.21.9-a-1", Release: "4.21.9", Result: history.Installed},
		{Number: 2, Name: "4.22.0-b-2", Release: "4.22.0", Result: history.Installed, Listed: at, Applied: at.Add(time.Minute), Cause: "images\x1b[2J"},
		{Number: 3, Name: "4.22.1-c-3", Release: "4.22.1", Result: history.Superseded},
		{Number: 4, Name: "4.22.2-d-4", Release: "4.22.2", Result: history.Installed, Counts: map[string]int64{"Created": 3}, Consents: []string{"one"}},
	}}
	for i := range h.Revisions {
		h.Revisions[i].Components = []history.Component{{Name: "core", Image: fmt.Sprintf("registry.example/core-%d", i)}}
	}
	return h
}

func TestTargetOf(t *testing.T) {
	for name, row := range map[string]struct {
		current, newest, number, want int64
		wrong                         string
	}{
		"the last installed one before":     {4, 4, 0, 2, ""},
		"one by its number":                 {4, 4, 2, 2, ""},
		"the current one of a rollout":      {4, 5, 4, 4, ""},
		"the current one, without a number": {4, 5, 0, 4, ""},
		"nothing is installed":              {0, 4, 0, 0, "no revision is installed"},
		"there is none before":              {1, 1, 0, 0, "no installed revision before 1"},
		"one that is not there":             {4, 4, 9, 0, "does not have revision 9; it has 1, 2, 3, 4"},
		"one that was never installed":      {4, 4, 3, 0, "was never installed as a whole: it is Superseded"},
		"the newest one":                    {4, 4, 4, 0, "to stay with it: capstan pin"},

		"one of another minor release":      {4, 4, 1, 0, "there is no way back to another minor release"},
		"without a number, another release": {2, 2, 0, 0, "there is no way back to another minor release"},
	} {
		got, err := targetOf(past(), row.current, row.newest, row.number)
		switch {
		case row.wrong == "" && (err != nil || got.Number != row.want):
			t.Errorf("%s: it is %v, %v", name, got, err)
		case row.wrong != "" && (err == nil || !strings.Contains(err.Error(), row.wrong)):
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func TestTargetOf_is_no_uninstallation(t *testing.T) {
	h := past()
	h.Revisions[1].Components = nil
	if _, err := targetOf(h, 4, 4, 2); err == nil || !strings.Contains(err.Error(), "has no images: it is an uninstallation") {
		t.Errorf("the error is %v", err)
	}
}

func TestPinnable_names_a_rollback(t *testing.T) {
	if err := pinnable(asking.Looked{Current: 4, Newest: 4}); err != nil {
		t.Error(err)
	}
	if err := pinnable(asking.Looked{Current: 4, Newest: 5}); err == nil || !strings.Contains(err.Error(), "to pin revision 4 is a rollback") {
		t.Errorf("the error is %v", err)
	}
	if err := pinnable(asking.Looked{Newest: 1}); err == nil {
		t.Error("nothing can be pinned")
	}
}

func TestPrintHistory_tells_each_revision_and_escapes(t *testing.T) {
	var text bytes.Buffer
	if err := printHistory(&text, past()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"4         4.22.2   Installed", "2026-01-31 12:01:00Z", "what came before was lost"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, text.String())
		}
	}
	if err := printRevision(&text, past().Revisions[3]); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Revision:   4.22.2-d-4\n", "  Created: 3\n", "  one\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "\x1b") {
		t.Error("what others wrote controls the terminal")
	}
}

func TestRevisionArgument(t *testing.T) {
	for text, want := range map[string]int64{"7": 7, "0": 0, "-1": 0, "x": 0} {
		got, err := revisionArgument([]string{text})
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%s is %d, %v", text, got, err)
		}
	}
	if got, err := revisionArgument(nil); got != 0 || err != nil {
		t.Errorf("nothing is %d, %v", got, err)
	}
}
