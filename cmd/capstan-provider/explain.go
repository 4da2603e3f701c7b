package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"

	"github.com/capstan-capi/capstan/cmd/capstan-provider/explaining"
	"github.com/capstan-capi/capstan/cmd/capstan-provider/standing"
	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/terminal"
)

type explainFlags struct {
	inspect.Access
	moves  bool
	output string
}

func explainCommand() *cobra.Command {
	f := &explainFlags{}
	cmd := &cobra.Command{
		Use:   "explain NAMESPACE/NAME",
		Short: "Explains why a cluster is where it is, and what to do",
		Long: `Explains in one screen why the installation of a cluster is where it is: what the state means and since when it is so,
what is waited for and until when, the marks that outlive the status, the machines, what is not as it should be, the
last failure, how it came here, and the next step. With --moves it tells of each move that can leave the state what
that asks for, too.

It needs the right to get the OpenShiftControlPlane. With that to get its Cluster and to list machines it tells more.
It writes nothing.

Exit codes: 0 if it was explained, whatever the state is; 1 if there is no such OpenShiftControlPlane, or if it could
not be read.`,
		Example: `  capstan-provider explain fleet/example
  capstan-provider explain fleet/example -o json | jq -r .next`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args[0], cmd.OutOrStdout()) },
	}
	flags := cmd.Flags()
	f.Flags(flags)
	flags.BoolVar(&f.moves, "moves", false, "tell what each move asks for that can leave the state")
	flags.StringVarP(&f.output, "output", "o", "text", "what to print: `text` or json")
	return cmd
}

func (f *explainFlags) run(ctx context.Context, named string, out io.Writer) error {
	if err := terminal.CheckOutput(f.output); err != nil {
		return err
	}
	key, err := standing.Key(named)
	if err != nil {
		return err
	}
	config, err := f.Config()
	if err != nil {
		return err
	}
	clock := &inspect.ServerClock{}
	client, err := dynamic.NewForConfig(clock.Hears(config))
	if err != nil {
		return fmt.Errorf("building a client: %w", err)
	}
	look, err := explaining.Read(ctx, client, config.Host, key)
	if err != nil {
		return err
	}
	now, err := clock.Now()
	if err != nil {
		return err
	}
	return terminal.Tell(out, f.output, look.Explain(f.moves), now)
}
