package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/capstan-capi/capstan/cmd/capstan-provider/standing"
)

// page is docs/openshift-commands.md.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/openshift-commands.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// typed are the commands that people type.
func typed() []*cobra.Command {
	return []*cobra.Command{createCommand(), applyCommand(), watchCommand(), explainCommand()}
}

func TestPage_has_a_section_for_each_command_and_names_flags_that_there_are(t *testing.T) {
	text, flags := page(t), map[string]bool{"help": true, "overwrite": true} // the second one is kubectl's
	for _, command := range typed() {
		if !strings.Contains(text, "\n## capstan-provider "+command.Name()+"\n") {
			t.Errorf("the page has no section for %s", command.Name())
		}
		command.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
	}
	for _, found := range regexp.MustCompile("[` ]--([a-z][a-z-]*)").FindAllStringSubmatch(text, -1) {
		if !flags[found[1]] {
			t.Errorf("no command has the flag --%s", found[1])
		}
	}
}

func TestPage_and_help_name_the_exit_code_of_every_step(t *testing.T) {
	text, help := page(t), watchCommand().Long
	for step := standing.Infrastructure; step <= standing.Operators; step++ {
		line := regexp.MustCompile(`(?m)^\| ` + strconv.Itoa(int(step)) + ` \|.* ` + step.String() + `( of the cluster)? \|$`)
		if !line.MatchString(text) {
			t.Errorf("the page does not say what %d is", step)
		}
		if !regexp.MustCompile(`(?m)^  ` + strconv.Itoa(int(step)) + ` +\S.*` + step.String()).MatchString(help) {
			t.Errorf("watch --help does not say what %d is", step)
		}
	}
}

func TestCommands_have_examples_and_say_what_their_exit_codes_mean(t *testing.T) {
	for _, command := range append(typed(), managerCommand(), collectCommand()) {
		if command.Example == "" || !regexp.MustCompile(`(?i)exit codes?\b`).MatchString(command.Long) {
			t.Errorf("%s has no example, or does not say how it ends", command.Name())
		}
		for line := range strings.Lines(command.Long) {
			if len(line) > 121 {
				t.Errorf("%s: a line of the help has %d bytes: %s", command.Name(), len(line), line)
			}
		}
	}
}

func TestPages_have_people_type_commands_that_there_are(t *testing.T) {
	pages, err := filepath.Glob("../../docs/openshift*.md")
	if err != nil {
		t.Fatal(err)
	}
	runbooks, err := filepath.Glob("../../docs/runbooks/CapstanOpenShift*.md")
	if err != nil {
		t.Fatal(err)
	}
	count, flag := 0, regexp.MustCompile(`(?:^| )--([a-z][a-z-]*)`)
	typed := regexp.MustCompile("(?m)(?:^ *(?:\\$ )?|`|/usr/bin/|\\| )capstan-provider ([a-z-]+)([^`|;\n]*)")
	for _, name := range slices.Concat(pages, runbooks) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range typed.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\\\n", " "), -1) {
			count++
			command, _, err := root().Find(found[1:2])
			if err != nil || command.Name() != found[1] {
				t.Errorf("%s: there is no capstan-provider %s", name, found[1])
				continue
			}
			for _, given := range flag.FindAllStringSubmatch(found[2], -1) {
				if given[1] != "help" && command.Flags().Lookup(given[1]) == nil {
					t.Errorf("%s: %s has no flag --%s", name, found[1], given[1])
				}
			}
		}
	}
	if count < 10 {
		t.Errorf("only %d commands were found", count)
	}
}
