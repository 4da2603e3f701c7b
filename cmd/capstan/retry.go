package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capstan/rescue"
	"github.com/capstan-capi/capstan/phases/acts"
)

func retryCommand() *cobra.Command {
	f := &askFlags{}
	cmd := &cobra.Command{
		Use:   "retry",
		Short: "Asks for another attempt now",
		Long: `Asks for another attempt now, also after a terminal error: it writes the annotation
capi-operator.openshift.io/retry on ClusterAPI cluster, which is an input of the machine. A changed
input leads out of Degraded and makes what failed be tried at once. It removes no cause: one that is
still there is reported again. From MaxRevisions it leads nowhere; that is what capstan recover is for.
While the operator is paused it says so, and nothing is tried before that ends. There is nothing to undo.

It takes the rights to get and patch ClusterAPI cluster, and no verb beside, which ClusterRoles
capstan-operate and capstan-admin have: it is no act, and writes no status. It waits until the operator says that it has seen it, for which it needs the right to get
ClusterOperator cluster-api. What came of it: capstan status.

On a terminal it asks before it does so; without one it wants --yes. --dry-run shows what it would do, and
whether the API server would take it.

Exit codes: 0 if the operator says that it has seen it, or the API server would take it; 1 if not, or if
nobody answers within --timeout: then what was written stands all the same.`,
		Example: `  capstan retry --yes && capstan status --watch`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.again(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	f.add(cmd.Flags())
	return cmd
}

// again asks for another attempt. What it writes is no act: it names nobody, and does not end.
func (f *askFlags) again(ctx context.Context, in io.Reader, out io.Writer) error {
	if err := f.validate(); err != nil {
		return err
	}
	cluster, looked, err := f.look(ctx, acts.Pause)
	if err != nil {
		return err
	}
	does := asked{Does: "retry", By: looked.By, At: looked.At, Paused: rescue.PausedBy(looked.Text, looked.At)}
	shows := "Ask for another attempt now: what failed is tried at once, and failed images are pulled again.\n" +
		"A cause that is still there is reported again. There is nothing to undo.\n"
	if does.Paused != "" {
		shows += does.Paused + "\n"
	}
	return f.do(ctx, in, out, cluster, looked, request{
		word: time.Now().UTC().Format(time.RFC3339Nano), does: does, shows: shows,
		said: "Another attempt is asked for. Watch it with: capstan status --watch\n",
	})
}
