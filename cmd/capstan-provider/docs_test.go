package main

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/capstan-capi/capstan/cmd/capstan-provider/standing"
)

// page is docs/openshift.md from the commands on.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/openshift.md")
	if err != nil {
		t.Fatal(err)
	}
	_, commands, found := strings.Cut(string(text), "## The commands\n")
	if !found {
		t.Fatal("the page tells of no commands")
	}
	return commands
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
	for _, command := range typed() {
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
