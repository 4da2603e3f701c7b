package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Writes a manual page for each command into a folder",
		Long: `Writes a manual page for each command into a folder, which is made if it is missing: capstan.1, capstan-status.1 and
so on. They say what --help says, and are the same each time.`,
		Example: `  capstan man ~/.local/share/man/man1 && man capstan-status`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("making the folder of the manual pages: %w", err)
			}
			return writePages(cmd.Root(), args[0])
		},
	}
}

// writePages writes the page of a command and of those below it. Cobra's own pages come by Markdown, which makes paragraphs of the
// tables in the commands' texts.
func writePages(cmd *cobra.Command, folder string) error {
	name := pageName(cmd) + ".1"
	problems := []error{os.WriteFile(filepath.Join(folder, name), []byte(manualPage(cmd)), 0o644)}
	for _, child := range told(cmd) {
		problems = append(problems, writePages(child, folder))
	}
	return errors.Join(problems...)
}

// told are the commands below a command that people are told of.
func told(cmd *cobra.Command) (all []*cobra.Command) {
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() && child.Name() != "help" {
			all = append(all, child)
		}
	}
	return all
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manualPage is the page of a command, in roff.
func manualPage(cmd *cobra.Command) string {
	var page strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&page, format+"\n", args...) }
	line(`.TH "%s" "1" "" "Capstan" "Capstan"`, roff(strings.ToUpper(pageName(cmd))))
	line(".SH NAME\n%s \\- %s", roff(pageName(cmd)), roff(cmd.Short))
	line(".SH SYNOPSIS\n\\fB%s\\fR", roff(cmd.UseLine()))
	line(".SH DESCRIPTION")
	page.WriteString(paragraphs(cmd.Long, cmd.Short))
	if flags := optionsOf(cmd.NonInheritedFlags()) + optionsOf(cmd.InheritedFlags()); flags != "" {
		line(".SH OPTIONS")
		page.WriteString(flags)
	}
	if cmd.Example != "" {
		line(".SH EXAMPLES")
		page.WriteString(verbatim(cmd.Example))
	}
	var others []string
	if cmd.HasParent() {
		others = append(others, reference(cmd.Parent()))
	}
	for _, child := range told(cmd) {
		others = append(others, reference(child))
	}
	if len(others) > 0 {
		line(".SH SEE ALSO\n%s", strings.Join(others, ",\n"))
	}
	return page.String()
}

func reference(cmd *cobra.Command) string { return `\fB` + roff(pageName(cmd)) + `\fR(1)` }

// optionsOf describes flags.
func optionsOf(flags *pflag.FlagSet) string {
	var text strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		text.WriteString(".TP\n")
		if f.Shorthand != "" {
			fmt.Fprintf(&text, `\fB%s\fR, `, roff("-"+f.Shorthand))
		}
		fmt.Fprintf(&text, `\fB%s\fR`, roff("--"+f.Name))
		if value != "" {
			fmt.Fprintf(&text, ` \fI%s\fR`, roff(value))
		}
		text.WriteString("\n" + roff(usage))
		if by := manualDefault(f); by != "" {
			text.WriteString(roff(" (default " + by + ")"))
		}
		text.WriteString("\n")
	})
	return text.String()
}

// manualDefault is the default of a flag, empty for none that need be told. What is that of whoever writes the page is that of nobody.
func manualDefault(f *pflag.Flag) string {
	switch by := f.DefValue; by {
	case "false", "[]", os.Getenv("RELEASE_VERSION"):
		return ""
	case userCache():
		return "~/.cache/capstan"
	default:
		return by
	}
}

// paragraphs are those of a text, or of another if it has none. Lines of one that has indented ones stay as they are.
func paragraphs(text, instead string) string {
	if text == "" {
		text = instead
	}
	var all strings.Builder
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		all.WriteString(".PP\n")
		if strings.HasPrefix(paragraph, "  ") || strings.Contains(paragraph, "\n  ") {
			all.WriteString(verbatim(paragraph))
			continue
		}
		for part := range strings.Lines(paragraph) {
			all.WriteString(roff(strings.TrimSpace(part)) + "\n")
		}
	}
	return all.String()
}

// verbatim has lines stay as they are.
func verbatim(text string) string {
	var all strings.Builder
	all.WriteString(".nf\n")
	for part := range strings.Lines(text) {
		all.WriteString(roff(strings.TrimRight(part, "\n")) + "\n")
	}
	all.WriteString(".fi\n")
	return all.String()
}

// roff is text in which nothing has a meaning to roff.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + text
	}
	return text
}
