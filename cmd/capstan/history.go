package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/terminal"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/history"
)

type historyFlags struct {
	inspect.Access
	fromFlag
	namespace, output string
}

func historyCommand() *cobra.Command {
	f := &historyFlags{}
	cmd := &cobra.Command{
		Use:   "history [REVISION]",
		Short: "Tells which revisions were listed, why, and what became of them",
		Long: `Tells which revisions were listed, the newest first: of which release, why, when they were listed, applied and
followed by another, and what became of them. With a number it tells all that is known of that one: content,
components, substitutions, how many objects were changed, and which consents were used.

It reads ConfigMap capstan-history in the operator's namespace, which only the operator writes, and needs the
right to get it, which ClusterRole capstan-view has. It holds 20 revisions, the last 5 that were installed among
them. Times that nobody has noted are left out. With --from it reads an archive of capstan support as
if it were the cluster.

Exit codes: 0 if it could be read, 1 if not, or if that revision is not in it.`,
		Example: `  capstan history
  capstan history 7 -o json | jq .components
  capstan history --from capstan-support.tar.gz`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), cmd.OutOrStdout(), args) },
	}
	f.Flags(cmd.Flags())
	f.fromFlag.add(cmd.Flags())
	cmd.Flags().StringVar(&f.namespace, "operator-namespace", "openshift-cluster-api-operator", "`namespace` of the operator")
	cmd.Flags().StringVarP(&f.output, "output", "o", "text", "what to print: `text` or json")
	return cmd
}

func (f *historyFlags) run(ctx context.Context, out io.Writer, args []string) error {
	if err := terminal.CheckOutput(f.output); err != nil {
		return err
	}
	number, err := revisionArgument(args)
	if err != nil {
		return err
	}
	known, err := f.known(ctx)
	if err != nil {
		return err
	}
	if number == 0 && f.output == "json" {
		return terminal.JSON(out, known)
	}
	if number == 0 {
		return printHistory(out, known)
	}
	one := known.Of(number)
	if one == nil {
		return notInHistory(known, number)
	}
	if f.output == "json" {
		return terminal.JSON(out, one)
	}
	return printRevision(out, *one)
}

// known reads the history from the cluster, or from an archive.
func (f *historyFlags) known(ctx context.Context) (history.History, error) {
	if f.from != "" {
		source, err := f.open(&f.Access)
		if err != nil {
			return history.History{}, err
		}
		return source.History()
	}
	reader, err := f.Reader()
	if err != nil {
		return history.History{}, err
	}
	return reader.History(ctx, f.namespace)
}

// revisionArgument is the number that was given, 0 for none.
func revisionArgument(args []string) (int64, error) {
	if len(args) == 0 {
		return 0, nil
	}
	number, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil || number < 1 {
		return 0, fmt.Errorf("%q is no number of a revision, such as 7: capstan history shows them", args[0])
	}
	return number, nil
}

func notInHistory(known history.History, number int64) error {
	var numbers []string
	for _, r := range known.Revisions {
		numbers = append(numbers, strconv.FormatInt(r.Number, 10))
	}
	return &inspect.Error{What: fmt.Sprintf("the history does not have revision %d; it has %s", number, strings.Join(numbers, ", ")), Next: "choose one of those"}
}

func printHistory(out io.Writer, known history.History) error {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "REVISION\tRELEASE\tRESULT\tLISTED\tAPPLIED\tENDED\tCAUSE")
	for _, r := range slices.Backward(known.Revisions) {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Number, cell(r.Release), r.Result, when(r.Listed), when(r.Applied), when(r.Ended), cell(r.Cause))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if known.Lost {
		fmt.Fprintf(&b, "\nIt was begun at %s, when revisions were listed already: what came before was lost, or was not kept.\n", machine.Moment(known.Began))
	}
	_, err := io.WriteString(out, printable(b.String()))
	return err
}

// cell is text that has a place in a table.
func cell(text string) string {
	if text == "" {
		return "-"
	}
	return strings.NewReplacer("\t", " ", "\n", " ").Replace(text)
}

func when(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return machine.Moment(at)
}

func printRevision(out io.Writer, r history.Revision) error {
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-12s%s\n", name+":", cell(text))
		}
	}
	list := func(name string, texts []string) {
		if len(texts) > 0 {
			fmt.Fprintf(&b, "%s:\n", name)
		}
		for _, text := range texts {
			fmt.Fprintf(&b, "  %s\n", cell(text))
		}
	}
	line("Revision", r.Name)
	line("Release", r.Release)
	line("Content", r.ContentID)
	line("Result", string(r.Result))
	line("Cause", cell(r.Cause))
	line("Listed", when(r.Listed))
	line("Applied", when(r.Applied))
	line("Ended", when(r.Ended))
	var components, values, counts []string
	for _, c := range r.Components {
		components = append(components, fmt.Sprintf("%s (profile %s of %s)", c.Name, c.Profile, c.Image))
	}
	for _, key := range slices.Sorted(maps.Keys(r.Substitutions)) {
		values = append(values, key+"="+r.Substitutions[key])
	}
	for _, action := range slices.Sorted(maps.Keys(r.Counts)) {
		counts = append(counts, fmt.Sprintf("%s: %d", action, r.Counts[action]))
	}
	list("Components", components)
	list("Substitutions", values)
	list("Unmanaged CustomResourceDefinitions", r.Unmanaged)
	list("Changes to objects", counts)
	list("Consents used", r.Consents)
	_, err := io.WriteString(out, printable(b.String()))
	return err
}
