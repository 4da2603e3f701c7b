package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/controllers"
	"github.com/capstan-capi/capstan/controllers/clusterapi"
	"github.com/capstan-capi/capstan/controllers/view"
)

// page is docs/cli.md with the lines put together that it breaks.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\\\n  ", "")
}

// shows says that a line of a sample is one of the lines that a command prints; … stands for anything.
func shows(line string, printed []string) bool {
	parts := strings.Split(strings.TrimSpace(line), "…")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return slices.ContainsFunc(printed, regexp.MustCompile("^"+strings.Join(parts, ".*")+"$").MatchString)
}

func lines(text string) []string {
	var trimmed []string
	for line := range strings.Lines(text) {
		trimmed = append(trimmed, strings.TrimSpace(line))
	}
	return trimmed
}

// table is the one that the samples are of.
func table() view.Table { return controllers.Views()[0].Table }

func TestPage_explains_moves_in_the_words_of_the_table(t *testing.T) {
	var ways []view.Way
	for _, state := range table().States {
		ways = append(ways, state.Ways...)
	}
	var text bytes.Buffer
	if err := (inspect.Explanation{Moves: ways}).Write(&text, time.Now()); err != nil {
		t.Fatal(err)
	}
	printed, samples := lines(text.String()), 0
	inSample := false
	for line := range strings.Lines(page(t)) {
		inSample = (inSample || strings.Contains(line, " leads to ")) && !strings.HasPrefix(line, "      now ") && !strings.HasPrefix(line, "```")
		if !inSample {
			continue
		}
		samples++
		if !shows(line, printed) {
			t.Errorf("capstan explain does not print: %s", line)
		}
	}
	if samples < 10 {
		t.Errorf("only %d lines were found", samples)
	}
}

func TestPage_draws_and_replays_moves_of_the_table(t *testing.T) {
	drawn := lines(table().Diagram(""))
	arrow, number := regexp.MustCompile(`(\w+) --(\w+)--> (\w+)`), regexp.MustCompile(`: \(\d+\) `)
	moves, guards := map[string][]string{}, map[string]bool{}
	for _, state := range table().States {
		for _, way := range state.Ways {
			moves[string(state.Name)] = append(moves[string(state.Name)], string(way.Event)+" to "+string(way.To))
			for _, question := range way.Questions {
				guards[question.Guard] = true
			}
		}
	}
	found, replayed := 0, []string(nil)
	var from string
	for line := range strings.Lines(page(t)) {
		if strings.Contains(line, " --> ") {
			found++
			if !shows(number.ReplaceAllString(line, ": "), drawn) {
				t.Errorf("capstan diagram does not print: %s", line)
			}
		}
		if made := arrow.FindStringSubmatch(line); made != nil {
			found++
			if from = made[1]; !slices.Contains(moves[from], made[2]+" to "+made[3]) {
				t.Errorf("no such move: %s", made[0])
			}
			replayed = nil
		}
		switch word, rest, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "asked":
			if name, _, _ := strings.Cut(strings.TrimSpace(rest), ":"); !guards[name] {
				t.Errorf("no such guard: %s", name)
			}
		case "move":
			move, _, _ := strings.Cut(strings.TrimSpace(rest), ":")
			replayed = append(replayed, move)
		case "again":
			if !slices.Equal(replayed, moves[from]) {
				t.Errorf("capstan replay shows %q of %s, the page %q", moves[from], from, replayed)
			}
		}
	}
	if found < 8 || replayed == nil {
		t.Errorf("only %d moves were found, and %q replayed", found, replayed)
	}
}

func TestPage_names_flags_and_fields_that_there_are(t *testing.T) {
	text := page(t)
	flags := map[string]bool{"overwrite": true} // of kubectl, in commands that are told
	for _, command := range root().Commands() {
		flagsOf(command, flags)
	}
	for _, found := range regexp.MustCompile("[` ]--([a-z][a-z-]*)").FindAllStringSubmatch(text, -1) {
		if !flags[found[1]] {
			t.Errorf("no command has the flag --%s", found[1])
		}
	}
	_, said, _ := strings.Cut(text, "with the fields ")
	said, _, _ = strings.Cut(said, ";")
	var named []string
	for _, found := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(said, -1) {
		named = append(named, found[1])
	}
	var have []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[clusterapi.Status]()) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			have = append(have, name)
		}
	}
	slices.Sort(named)
	slices.Sort(have)
	if !slices.Equal(named, have) {
		t.Errorf("the page names the fields %q, capstan status -o json has %q", named, have)
	}
}

func TestStatus_says_which_exit_code_each_state_has(t *testing.T) {
	said := statusCommand().Long
	for _, of := range controllers.Views() {
		if !strings.Contains(said, of.Table.Name) {
			t.Errorf("nothing is said of machine %s", of.Table.Name)
		}
		for _, state := range of.Table.States {
			if !regexp.MustCompile(`\b` + string(state.Name) + `\b`).MatchString(said) {
				t.Errorf("nothing is said of state %s of machine %s", state.Name, of.Table.Name)
			}
		}
	}
}

func flagsOf(command *cobra.Command, into map[string]bool) {
	for _, child := range command.Commands() {
		flagsOf(child, into)
	}
	for _, line := range lines(command.Flags().FlagUsages()) {
		for _, found := range regexp.MustCompile(`--([a-z][a-z-]*)`).FindAllStringSubmatch(line, -1) {
			into[found[1]] = true
		}
	}
}

func TestPages_of_hosted_clusters_have_people_type_commands_that_there_are(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"../../docs/private-capi*.md", "../../docs/runbooks/CapstanPrivateCAPI*.md"} {
		some, err := filepath.Glob(pattern)
		if err != nil || some == nil {
			t.Fatalf("there are no pages %s (%v)", pattern, err)
		}
		pages = append(pages, some...)
	}
	count, flag := 0, regexp.MustCompile(`(?:^| )--([a-z][a-z-]*)`)
	typed := regexp.MustCompile("(?m)(?:^ *|`)capstan ([^`|;\n]+)")
	for _, name := range pages {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range typed.FindAllStringSubmatch(string(text), -1) {
			count++
			command, rest, err := root().Find(strings.Fields(found[1]))
			if err != nil || !command.Runnable() || command.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
				t.Errorf("%s: there is no capstan %s", name, found[1])
				continue
			}
			for _, given := range flag.FindAllStringSubmatch(found[1], -1) {
				if command.Flags().Lookup(given[1]) == nil {
					t.Errorf("%s: capstan %s has no flag --%s", name, command.Name(), given[1])
				}
			}
		}
	}
	if count < 20 {
		t.Errorf("only %d commands were found", count)
	}
}
