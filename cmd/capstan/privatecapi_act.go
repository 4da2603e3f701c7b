package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capstan/hosted"
	"github.com/capstan-capi/capstan/cmd/terminal"
	"github.com/capstan-capi/capstan/message"
)

// hostedActRights is what all commands that ask something of the operator need, and how they end.
const hostedActRights = `On a terminal it asks before it does so; without one it wants --yes. --dry-run shows what it would do, and
whether the API server would take it. It waits until the operator says in condition PrivateCAPIMigrated that it has
seen it; where the operator has nothing to say of it, it says so and does not wait.

It needs the right to list HostedClusters and to get ConfigMap capstan-private-capi in the operator's namespace, and to
patch what it writes, which ClusterRole capstan-private-capi-operate has. Who may patch a HostedCluster may
patch all of it: give that to those who look after hosted clusters.

Exit codes: 0 if there is nothing to do, it was done, or the API server would take it; 1 if it is refused, if the
operator says that it will not do it, or if nobody answers within --timeout: then what was written stands all the same.`

type hostedActFlags struct {
	hostedFlags
	intent
	timeout time.Duration
}

func hostedActCommand(act hosted.Act, cmd *cobra.Command) *cobra.Command {
	f, cancel := &hostedActFlags{}, false
	cmd.Long += "\n\n" + hostedActRights
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		does := act
		if cancel {
			does = hosted.Cancel
		}
		return f.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), does, names)
	}
	f.add(cmd.Flags())
	f.intent.flags(cmd.Flags())
	cmd.Flags().DurationVar(&f.timeout, "timeout", time.Minute, "how long to wait until the operator says what it makes of it")
	if act == hosted.Revert {
		cmd.Flags().BoolVar(&cancel, "cancel", false, "take the request back, before the move back has begun")
	}
	return cmd
}

func privatePauseCommand() *cobra.Command {
	return hostedActCommand(hosted.Pause, &cobra.Command{
		Use:   "pause [NAMESPACE/NAME]",
		Short: "Has no move of a hosted cluster, or of any, begin",
		Long: `Has no move of a HostedCluster begin, by annotation capstan.openshift.io/private-capi-paused; without a name no move of
any, by key paused of ConfigMap capstan-private-capi. A move that is under way goes on.`,
		Example: `  capstan private-capi pause clusters/example
  capstan private-capi pause --yes`,
		Args: cobra.MaximumNArgs(1),
	})
}

func privateResumeCommand() *cobra.Command {
	return hostedActCommand(hosted.Resume, &cobra.Command{
		Use:   "resume [NAMESPACE/NAME]",
		Short: "Has moves begin again",
		Long: `Ends what capstan private-capi pause has begun, of one HostedCluster or of the programme. One that is paused by itself
stays so when the programme goes on.`,
		Example: `  capstan private-capi resume clusters/example --yes`,
		Args:    cobra.MaximumNArgs(1),
	})
}

func privateRetryCommand() *cobra.Command {
	return hostedActCommand(hosted.Retry, &cobra.Command{
		Use:   "retry NAMESPACE/NAME",
		Short: "Has a move that was undone tried again",
		Long: `Takes annotation hypershift.openshift.io/migration-failed off a HostedCluster, so that it is moved again when its turn
comes. It is refused unless a move has failed, and while one is under way. Put right before what capstan private-capi explain
names.`,
		Example: `  capstan private-capi retry clusters/example`,
		Args:    cobra.ExactArgs(1),
	})
}

func privateRevertCommand() *cobra.Command {
	return hostedActCommand(hosted.Revert, &cobra.Command{
		Use:   "revert NAMESPACE/NAME",
		Short: "Has a hosted cluster moved back to the standard types",
		Long: `Has a HostedCluster that has private types moved back to the standard ones, by annotation
capstan.openshift.io/private-capi-revert. It is a move like any other, which begins when its turn comes; afterwards
the HostedCluster stays with the old operator until capstan private-capi retry. It is refused if the HostedCluster is
not on private types, is locked, is being deleted or has a failed move, and once the old operator is not kept any more.
--cancel takes the request back before the move has begun.`,
		Example: `  capstan private-capi revert clusters/example
  capstan private-capi revert clusters/example --cancel --yes`,
		Args: cobra.ExactArgs(1),
	})
}

// run shows, asks, writes and waits.
func (f *hostedActFlags) run(ctx context.Context, in io.Reader, out io.Writer, act hosted.Act, names []string) error {
	if f.timeout <= 0 {
		return fmt.Errorf("--timeout is %s, and has to be above 0", f.timeout)
	}
	if err := f.intent.validate(f.output); err != nil {
		return err
	}
	key, err := hostedKey(names)
	if err != nil {
		return err
	}
	cluster, err := f.cluster()
	if err != nil {
		return err
	}
	seen, err := cluster.Look(ctx)
	if err != nil {
		return err
	}
	plan, err := seen.Plan(act, key)
	if err != nil {
		return err
	}
	tell := out
	if f.output == "json" {
		tell = io.Discard
	}
	does, err := f.do(ctx, in, tell, cluster, plan)
	if f.output == "json" && (err == nil || does.Done) {
		if printed := terminal.JSON(out, does); printed != nil {
			return printed
		}
	}
	return err
}

// do shows a plan and carries it out as far as it is to be.
func (f *hostedActFlags) do(ctx context.Context, in io.Reader, tell io.Writer, cluster *hosted.Cluster, plan hosted.Plan) (hosted.Plan, error) {
	if plan.Nothing != "" {
		_, err := fmt.Fprintln(tell, "Nothing to do: "+message.Line(plan.Nothing)+".")
		return plan, err
	}
	fmt.Fprint(tell, printable(plan.Shows))
	if f.dryRun {
		if err := cluster.Write(ctx, plan, true); err != nil {
			return plan, err
		}
		_, err := fmt.Fprintln(tell, "\nNothing was changed. To do it, leave out --dry-run.")
		return plan, err
	}
	if !f.yes {
		if err := agreed(in, tell); err != nil {
			return plan, err
		}
	}
	if err := cluster.Write(ctx, plan, false); err != nil {
		return plan, err
	}
	plan.Done = true
	var refused error
	if plan.Unheard != "" {
		fmt.Fprintf(tell, "\nDone. The operator does not answer to this: %s.\n", message.Line(plan.Unheard))
	} else {
		plan.Says, refused = cluster.Wait(ctx, plan, f.timeout)
		plan.Confirmed = refused == nil
		tellHeard(tell, plan)
	}
	_, err := fmt.Fprintf(tell, "To look: %s\nTo take it back: %s\n", plan.Next, plan.Undo)
	return plan, errors.Join(refused, err)
}

// tellHeard says what the operator says of what was written.
func tellHeard(tell io.Writer, plan hosted.Plan) {
	said := "Written, and not confirmed by the operator."
	if plan.Confirmed {
		said = "Done, and the operator has seen it."
	}
	fmt.Fprintln(tell, "\n"+said)
	if plan.Says != "" {
		fmt.Fprintln(tell, "It says: "+message.Line(plan.Says))
	}
}
