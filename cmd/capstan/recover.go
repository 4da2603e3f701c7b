package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capstan/asking"
	"github.com/capstan-capi/capstan/cmd/capstan/rescue"
	"github.com/capstan-capi/capstan/cmd/terminal"
)

type recoverFlags struct{ askFlags }

func recoverCommand() *cobra.Command {
	f := &recoverFlags{}
	cmd := &cobra.Command{
		Use:   "recover",
		Short: "Makes room when 16 revisions are listed, without losing an object from sight",
		Long: `Takes off the list in ClusterAPI.status the revisions that never completed, and those that the
installed one has replaced, so that the machine can leave MaxRevisions. The installed revision and the
desired one always stay. The operator may be running.

A revision goes only if it is proven that no object of it is lost from sight: its inventory (ConfigMap
capstan-inventory-<number>) can be read and stays, because pruning works from the inventories; or it
has none, and no object of any kind with the verbs list and patch carries its number. What only removed
revisions list is named; it is deleted when a newer revision without it is installed.

It deletes no object, and there is nothing that puts a revision back on the list. While the operator is paused it
says so, and nothing newer is listed before that ends.

On a terminal it asks before it does so; without one it wants --yes. --dry-run shows what it would do. It
needs the right to get ClusterAPI cluster and the ConfigMaps of the operator's namespace, and to do it to update
clusterapis/status and the verb intervene on ClusterAPI cluster, which cluster-admin has; if a listed revision
has no inventory also to list all kinds of objects. It waits until the operator says that they are off the list,
for which it needs the right to get ClusterOperator cluster-api.

Exit codes: 0 if there is room, or could be made, or was made and the operator says so; 1 if not, or if nobody
answers within --timeout: then what was removed is off the list all the same.`,
		Example: `  capstan recover --dry-run
  capstan recover --yes && capstan status --watch`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	f.add(cmd.Flags())
	return cmd
}

func (f *recoverFlags) run(ctx context.Context, in io.Reader, out io.Writer) error {
	if err := f.validate(); err != nil {
		return err
	}
	config, err := f.Config()
	if err != nil {
		return err
	}
	cluster, err := rescue.NewCluster(config, f.namespace)
	if err != nil {
		return err
	}
	plan, err := cluster.Recover(ctx, nil)
	if err != nil {
		return err
	}
	tell := out
	if f.output == "json" {
		tell = io.Discard
	}
	if err := showRecovery(tell, plan); err != nil {
		return err
	}
	var failed error
	switch {
	case len(plan.Remove) == 0 && plan.Listed >= plan.Limit:
		failed = errors.New("no revision can be removed: see above why each one stays")
	case len(plan.Remove) == 0:
		fmt.Fprintf(tell, "Nothing to do: there is room for %s.\n", count(plan.Limit-plan.Listed, "more revision"))
	case f.dryRun:
		fmt.Fprintln(tell, "Nothing was changed. To do it: capstan recover --yes")
	default:
		if !f.yes {
			if err := agreed(in, out); err != nil {
				return err
			}
		}
		failed = f.remove(ctx, tell, cluster, &plan)
	}
	if f.output == "json" {
		return errors.Join(terminal.JSON(out, plan), failed)
	}
	return failed
}

// showRecovery shows what can be removed, and that nothing takes that back.
func showRecovery(out io.Writer, plan rescue.Plan) error {
	var text strings.Builder
	if err := plan.Write(&text); err != nil {
		return err
	}
	if len(plan.Remove) > 0 {
		text.WriteString("\nNo object is deleted by this, and nothing puts a revision back on the list.\n")
	}
	if plan.Paused != "" {
		text.WriteString("\n" + plan.Paused + "\n")
	}
	_, err := fmt.Fprintln(out, printable(text.String()))
	return err
}

// remove takes what was shown off the list, and waits until the operator says that it is.
func (f *recoverFlags) remove(ctx context.Context, out io.Writer, cluster *rescue.Cluster, plan *rescue.Plan) error {
	shown := plan.Remove
	done, err := cluster.Recover(ctx, shown)
	if err != nil {
		return err
	}
	*plan = done
	fmt.Fprintf(out, "Removed from the list: %s\n", count(len(shown), "revision"))
	operator, err := f.cluster()
	if err != nil {
		return err
	}
	asked := asking.Asked{}
	for _, r := range shown {
		asked.Unlisted = append(asked.Unlisted, r.Number)
	}
	if err := operator.Wait(ctx, asked, f.timeout); err != nil {
		return err
	}
	plan.Confirmed = true
	fmt.Fprintln(out, "Done. The machine goes on by itself; watch it with: capstan status --watch")
	return nil
}
