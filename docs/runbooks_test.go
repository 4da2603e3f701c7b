package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sections are those of every runbook, in their order.
var sections = []string{"## What it means", "## What to look at", "## What to do"}

func TestRunbooks_each_alert_has_its_page_and_each_page_its_alert(t *testing.T) {
	var rules []byte
	for _, file := range []string{"../deploy/alerts.yaml", "../deploy/privatecapi/alerts.yaml", "../config/alerts/alerts.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, text...)
	}
	list, err := os.ReadFile("runbooks/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var alerts []string
	for _, match := range regexp.MustCompile(`(?m)^ *(?:- )?alert: (\w+)$`).FindAllStringSubmatch(string(rules), -1) {
		alerts = append(alerts, match[1])
	}
	for _, name := range called(t) { // by tables whose alerts are not deployed yet, too
		if !slices.Contains(alerts, name) {
			alerts = append(alerts, name)
		}
	}
	pages, err := filepath.Glob("runbooks/Capstan*.md")
	if err != nil || len(alerts) < 10 || len(pages) < 10 {
		t.Fatalf("there are %d alerts and %d pages (%v)", len(alerts), len(pages), err)
	}
	for _, page := range pages {
		name := strings.TrimSuffix(filepath.Base(page), ".md")
		if !slices.Contains(alerts, name) {
			t.Errorf("%s is about no alert", page)
		}
		if !strings.Contains(string(list), "("+name+".md)") {
			t.Errorf("runbooks/README.md does not list %s", name)
		}
	}
	for _, name := range alerts {
		text, err := os.ReadFile(filepath.Join("runbooks", name+".md"))
		if err != nil {
			t.Errorf("nobody who is called by %s is told what to do: %v", name, err)
			continue
		}
		checkSections(t, name, string(text))
	}
}

// checkSections wants the alert's name as the title, and something in each section.
// called are the alerts of all machines' tables, as the generated pages list them.
func called(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("state-diagrams/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("there are no pages of tables (%v)", err)
	}
	var names []string
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`(?m)^\| \[(Capstan\w+)\]\(\.\./runbooks/`).FindAllStringSubmatch(string(text), -1) {
			names = append(names, match[1])
		}
	}
	return names
}

func checkSections(t *testing.T, name, text string) {
	t.Helper()
	rest, titled := strings.CutPrefix(text, "# "+name+"\n")
	if !titled {
		t.Errorf("the title of %s is not its name", name)
	}
	for i, section := range sections {
		_, after, found := strings.Cut(rest, "\n"+section+"\n")
		if !found {
			t.Errorf("%s does not have the section %q in its place", name, section)
			return
		}
		body := after
		if i+1 < len(sections) {
			body, _, _ = strings.Cut(after, "\n"+sections[i+1]+"\n")
		}
		if len(strings.TrimSpace(body)) < 40 {
			t.Errorf("%s has nothing to say in %q", name, section)
		}
		rest = after
	}
}
