package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/terminal"
	"github.com/capstan-capi/capstan/controllers"
)

// lookEvery is how often --watch looks.
const lookEvery = time.Second

type statusFlags struct {
	inspect.Target
	fromFlag
	watch    bool
	output   string
	exitCode bool
}

const statusTells = `Tells what state a cluster's Cluster API is in and since when, what it waits for and until when,
how far each wave of each revision is, and what needs a look: objects of others in the way, updates
that are refused or contested, objects kept for the data in them, and the conditions.

It reads ClusterAPI cluster and ClusterOperator cluster-api, and needs only the right to get these two;
with --machine compatibility the CompatibilityRequirement that --key names, which it needs the right to get.
With --from it reads an archive of capstan support as if it were the cluster, as it was then.
With --watch it looks every second and draws over what it drew before; into a file or a pipe it prints
a line whenever something has changed. Ctrl-c ends it.

Exit codes: 0 if it could be read, 1 if not, or if there is no object of that key. With --exit-code the
state is the exit code:

  code  clusterapi                              compatibility
  0     Installed                               Met
  1     could not be read                       could not be read, or there is no such requirement
  2     WaitingOnInfra, Planning, AwaitingCRDs, Arming, Unmet, Refused, Conflicted, Releasing,
        Applying, Pruning, Paused,              or nothing reported
        or nothing reported
  3     Degraded, MaxRevisions, or in any       Degraded, Open
        state a revision that would uninstall
        something and awaits consent

  code  bootgate
  0     Off, Open
  1     could not be read
  2     WaitingForConfig, WaitingForRelease, WaitingForVoucher, or nothing reported
  3     ConfigOverdue, GoldenBroken, VoucherOverdue

  code  bootimage
  0     Current
  1     could not be read
  2     Unenrolled, Excluded, Deciding, UpgradingStub, Cloning, Settling, Skipped, or nothing reported
  3     HotLoop, Failed

  code  privatecapi                             legacyoperator
  0     Private, or Failed for reason reverted  Needed, Removed
  1     could not be read, or there is no such HostedCluster
  2     Classifying, Eligible, Checking,        Removing, or nothing reported
        Locking, Pausing, Draining,
        Snapshotting, Copying, CopyingStatus,
        Rewiring, Equipping, Starting,
        Comparing, Unpausing, Observing,
        Committing, RemovingSource, Unlocking,
        Repausing, DrainingBack, CopyingBack,
        DroppingCopies, Restoring, Private
        with a request to be moved back,
        or nothing reported
  3     Failed, Held, Ambiguous, CommitBlocked, RemovalBlocked
        CleanupBlocked, UnlockBlocked,
        RestoreBlocked, RollbackBlocked

So 2 is on its way or not as it should be, and 3 that somebody has to look.`

func statusCommand() *cobra.Command {
	f := &statusFlags{Target: inspect.Target{Views: controllers.Views()}}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Tells what state a cluster's Cluster API is in, and what it waits for",
		Long:  statusTells,
		Example: `  capstan status
  capstan status --watch
  capstan status -o json | jq .waits
  capstan status --exit-code --context prod && echo installed
  capstan status --machine compatibility --key my-widgets
  capstan status --from capstan-support.tar.gz
  capstan status boot-images`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	cmd.AddCommand(bootImagesStatusCommand())
	flags := cmd.Flags()
	f.Flags(flags)
	f.add(flags)
	flags.BoolVarP(&f.watch, "watch", "w", false, "go on looking, every second")
	flags.StringVarP(&f.output, "output", "o", "text", "what to print: `text` or json (with --watch a line of JSON for each change)")
	flags.BoolVar(&f.exitCode, "exit-code", false, "make the state the exit code, by the table above")
	return cmd
}

func (f *statusFlags) run(ctx context.Context, out io.Writer) error {
	if err := terminal.CheckOutput(f.output); err != nil {
		return err
	}
	if f.watch && f.from != "" {
		return errors.New("nothing changes in an archive: say either --from or --watch")
	}
	if f.watch {
		return f.follow(ctx, out)
	}
	now, err := f.use(&f.Target)
	if err != nil {
		return err
	}
	seen, err := f.Look(ctx)
	if err != nil {
		return err
	}
	if err := terminal.Tell(out, f.output, seen.Status, now()); err != nil || !f.exitCode {
		return err
	}
	return exit(seen.Status.Code())
}

func (f *statusFlags) follow(ctx context.Context, out io.Writer) error {
	look, err := f.Looker()
	if err != nil {
		return err
	}
	return follow(ctx, out, f.output, lookEvery, func(ctx context.Context) (inspect.Status, error) {
		seen, err := look(ctx)
		return seen.Status, err
	})
}
