package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capstan/disarm"
	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
)

type disarmFlags struct {
	inspect.Access
	intent
	output string
}

func disarmCommand() *cobra.Command {
	f := &disarmFlags{}
	cmd := &cobra.Command{
		Use:   "disarm (--dry-run|--yes)",
		Short: "Has API servers go on without the checker of CRD compatibility while nobody answers for it",
		Long: `Sets every entry of the checker's webhook configurations to Ignore, so that a checker that is down, or
cannot be reached, holds up no write. It takes neither the operator nor the checker. While the checker
answers, it goes on refusing and warning; no requirement is changed.

It lasts as long as the trouble: the operator sets an entry back to Fail once the checker has a ready
endpoint and has refused a bad requirement through the API server. Without the operator it lasts until
that is back. To have nothing refused for good, take the actions out of the requirements, or delete them.

--dry-run shows what would be done, --yes does it. It needs the right to list, get and patch
ValidatingWebhookConfigurations and MutatingWebhookConfigurations.

What cannot be written holds up nothing else.

Exit codes: 0 if there is nothing to do, it was done, or could be done with --yes; 1 if not all of it, with the names.`,
		Example: `  capstan disarm --dry-run
  capstan disarm --yes`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	flags := cmd.Flags()
	f.Flags(flags)
	f.intent.flags(flags)
	flags.StringVarP(&f.output, "output", "o", "text", "what to print: `text` or json")
	return cmd
}

func (f *disarmFlags) run(ctx context.Context, out io.Writer) error {
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
	cluster, err := disarm.NewCluster(config)
	if err != nil {
		return err
	}
	plan, failed := cluster.Disarm(ctx, f.yes)
	if f.output == "json" {
		return errors.Join(failed, printJSON(out, plan))
	}
	if err := errors.Join(failed, plan.Write(out)); err != nil {
		return err
	}
	switch {
	case len(plan.Entries) == 0:
		fmt.Fprintln(out, "Nothing to do: no entry of the checker refuses anything while nobody answers.")
	case plan.Done:
		fmt.Fprintln(out, "\nDone. The operator sets them back to Fail by itself, once the checker has a ready endpoint and has\nrefused a bad requirement through the API server. Look at the checker with:\n  oc -n openshift-cluster-api-operator get pods,endpointslices -l app.kubernetes.io/name=capstan-webhooks")
	default:
		fmt.Fprintln(out, "\nNothing was changed. To do it: capstan disarm --yes")
	}
	return nil
}
