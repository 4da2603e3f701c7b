package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/capstan/rescue"
)

type recoverFlags struct {
	inspect.Access
	namespace string
	intent
	output string
}

func recoverCommand() *cobra.Command {
	f := &recoverFlags{}
	cmd := &cobra.Command{
		Use:   "recover (--dry-run|--yes)",
		Short: "Makes room when 16 revisions are listed, without losing an object from sight",
		Long: `Takes off the list in ClusterAPI.status the revisions that never completed, and those that the
installed one has replaced, so that the machine can leave MaxRevisions. The installed revision and the
desired one always stay. The operator may be running.

A revision goes only if it is proven that no object of it is lost from sight: its inventory (ConfigMap
capstan-inventory-<number>) can be read and stays, because pruning works from the inventories; or it
has none, and no object of any kind with the verbs list and patch carries its number. What only removed
revisions list is named; it is deleted when a newer revision without it is installed.

--dry-run shows what would be done, --yes does it. It needs the right to get ClusterAPI cluster and the
ConfigMaps of the operator's namespace, and with --yes to update clusterapis/status and the verb
intervene on ClusterAPI cluster, which cluster-admin has; if a listed revision has no inventory also to
list all kinds of objects.

Exit codes: 0 if there is room, was made, or could be made with --yes; 1 if not.`,
		Example: `  capstan recover --dry-run
  capstan recover --yes && capstan status --watch`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	flags := cmd.Flags()
	f.Flags(flags)
	flags.StringVar(&f.namespace, "operator-namespace", "openshift-cluster-api-operator", "`namespace` of the operator and its inventories")
	f.intent.flags(flags)
	flags.StringVarP(&f.output, "output", "o", "text", "what to print: `text` or json")
	return cmd
}

func (f *recoverFlags) run(ctx context.Context, out io.Writer) error {
	if err := f.intent.validate(); err != nil {
		return err
	}
	if err := textOrJSON(f.output); err != nil {
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
	plan, err := cluster.Recover(ctx, f.yes)
	if err != nil {
		return err
	}
	if f.output == "json" {
		err = printJSON(out, plan)
	} else {
		err = plan.Write(out)
	}
	switch {
	case err != nil:
		return err
	case len(plan.Remove) == 0 && plan.Listed >= plan.Limit:
		return errors.New("no revision can be removed: see above why each one stays")
	case f.output == "json":
		return nil
	}
	fmt.Fprintln(out)
	if plan.Paused != "" {
		fmt.Fprintln(out, printable(plan.Paused))
	}
	switch {
	case len(plan.Remove) == 0:
		fmt.Fprintf(out, "Nothing to do: there is room for %s.\n", count(plan.Limit-plan.Listed, "more revision"))
	case plan.Done:
		fmt.Fprintln(out, "Done. The machine goes on by itself; watch it with: capstan status --watch")
	default:
		fmt.Fprintln(out, "Nothing was changed. To do it: capstan recover --yes")
	}
	return nil
}
