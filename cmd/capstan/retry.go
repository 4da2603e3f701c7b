package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/capstan/rescue"
)

func retryCommand() *cobra.Command {
	var access inspect.Access
	cmd := &cobra.Command{
		Use:   "retry",
		Short: "Asks for another attempt now",
		Long: `Asks for another attempt now, also after a terminal error: it writes the annotation
capi-operator.openshift.io/retry on ClusterAPI cluster, which is an input of the machine. A changed
input leads out of Degraded and makes what failed be tried at once. It removes no cause: one that is
still there is reported again. From MaxRevisions it leads nowhere; that is what capstan recover is for.

It needs the right to patch ClusterAPI cluster, and not the verb intervene: it writes no status. The exit code is 1 if the annotation could not be written.`,
		Example: `  capstan retry && capstan status --watch`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := access.Config()
			if err != nil {
				return err
			}
			cluster, err := rescue.NewCluster(config, "")
			if err != nil {
				return err
			}
			paused, err := cluster.Retry(cmd.Context(), time.Now())
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), "Another attempt is asked for. Watch it with: capstan status --watch")
			if paused != "" {
				fmt.Fprintln(cmd.OutOrStdout(), printable(paused))
			}
			return nil
		},
	}
	access.Flags(cmd.Flags())
	return cmd
}
