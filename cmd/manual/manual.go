package manual

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Command writes the pages of all commands of the binary of a name. byDefault is what a page says of a flag's default, empty for
// nothing; nil for what the flag itself says.
func Command(name, example string, byDefault func(*pflag.Flag) string) *cobra.Command {
	if byDefault == nil {
		byDefault = Default
	}
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Writes a manual page for each command into a folder",
		Long: "Writes a manual page for each command into a folder, which is made if it is missing: " + name + ".1, " + name + "-" + example + ".1 and\n" +
			"so on. They say what --help says, and are the same each time.",
		Example: "  " + name + " man ~/.local/share/man/man1 && man " + name + "-" + example,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("making the folder of the manual pages: %w", err)
			}
			return writer{byDefault}.pages(cmd.Root(), args[0])
		},
	}
}

// Default is the default of a flag, empty for none that need be told.
func Default(f *pflag.Flag) string {
	if f.DefValue == "false" || f.DefValue == "[]" {
		return ""
	}
	return f.DefValue
}

type writer struct{ byDefault func(*pflag.Flag) string }

// pages writes the page of a command and of those below it. Cobra's own pages come by Markdown, which makes paragraphs of the
// tables in the commands' texts.
func (w writer) pages(cmd *cobra.Command, folder string) error {
	name := pageName(cmd) + ".1"
	problems := []error{os.WriteFile(filepath.Join(folder, name), []byte(w.page(cmd)), 0o644)}
	for _, child := range told(cmd) {
		problems = append(problems, w.pages(child, folder))
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

// page is the page of a command, in roff.
func (w writer) page(cmd *cobra.Command) string {
	var text strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	line(`.TH "%s" "1" "" "Capstan" "Capstan"`, Roff(strings.ToUpper(pageName(cmd))))
	line(".SH NAME\n%s \\- %s", Roff(pageName(cmd)), Roff(cmd.Short))
	line(".SH SYNOPSIS\n\\fB%s\\fR", Roff(cmd.UseLine()))
	line(".SH DESCRIPTION")
	text.WriteString(paragraphs(cmd.Long, cmd.Short))
	if flags := w.options(cmd.NonInheritedFlags()) + w.options(cmd.InheritedFlags()); flags != "" {
		line(".SH OPTIONS")
		text.WriteString(flags)
	}
	if cmd.Example != "" {
		line(".SH EXAMPLES")
		text.WriteString(verbatim(cmd.Example))
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
	return text.String()
}

func reference(cmd *cobra.Command) string { return `\fB` + Roff(pageName(cmd)) + `\fR(1)` }

// options describes flags.
func (w writer) options(flags *pflag.FlagSet) string {
	var text strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		text.WriteString(".TP\n")
		if f.Shorthand != "" {
			fmt.Fprintf(&text, `\fB%s\fR, `, Roff("-"+f.Shorthand))
		}
		fmt.Fprintf(&text, `\fB%s\fR`, Roff("--"+f.Name))
		if value != "" {
			fmt.Fprintf(&text, ` \fI%s\fR`, Roff(value))
		}
		text.WriteString("\n" + Roff(usage))
		if by := w.byDefault(f); by != "" {
			text.WriteString(Roff(" (default " + by + ")"))
		}
		text.WriteString("\n")
	})
	return text.String()
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
			all.WriteString(Roff(strings.TrimSpace(part)) + "\n")
		}
	}
	return all.String()
}

// verbatim has lines stay as they are.
func verbatim(text string) string {
	var all strings.Builder
	all.WriteString(".nf\n")
	for part := range strings.Lines(text) {
		all.WriteString(Roff(strings.TrimRight(part, "\n")) + "\n")
	}
	all.WriteString(".fi\n")
	return all.String()
}

// Roff is text in which nothing has a meaning to roff.
func Roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + text
	}
	return text
}
