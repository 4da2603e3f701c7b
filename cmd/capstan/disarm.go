package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/ptr"

	"github.com/capstan-capi/capstan/cmd/capstan/disarm"
	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/terminal"
)

// longestHold is how far away the operator takes the end to be.
const longestHold = 24 * time.Hour

type disarmFlags struct {
	inspect.Access
	intent
	output string
	hold   time.Duration
	// holds says that hold was asked for: without, one of somebody else stays.
	holds bool
}

func disarmCommand() *cobra.Command {
	f := &disarmFlags{}
	cmd := &cobra.Command{
		Use:   "disarm",
		Short: "Has API servers go on without the checker of CRD compatibility while nobody answers for it",
		Long: `Sets every entry of the checker's webhook configurations to Ignore, so that a checker that is down, or
cannot be reached, holds up no write. It takes neither the operator nor the checker. While the checker
answers, it goes on refusing and warning; no requirement is changed.

It lasts as long as the trouble: the operator sets an entry back to Fail once the checker has a ready
endpoint and has refused a bad requirement through one of the API servers. Without the operator it lasts
until that is back. That proof is one of one API server: where another one cannot reach the checker, writes
through that are held up again. Then --for has the operator leave the entries alone for a time, whatever the
checker answers; --for=0 ends that before, and sets nothing to Ignore; without --for it stays as it is. To have nothing refused for
good, take the actions out of the requirements, or delete them.

On a terminal it asks before it does so; without one it wants --yes. --dry-run shows what it would do. It needs
the right to list, get and patch ValidatingWebhookConfigurations and MutatingWebhookConfigurations.

What cannot be written holds up nothing else. It asks nothing of the operator, so that it waits for nobody: what
API servers have taken counts.

Exit codes: 0 if there is nothing to do, it was done, or could be done with --yes; 1 if not all of it, with the names.`,
		Example: `  capstan disarm --dry-run
  capstan disarm --yes
  capstan disarm --yes --for 15m`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.holds = cmd.Flags().Changed("for")
			return f.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	f.Flags(flags)
	f.intent.flags(flags)
	flags.DurationVar(&f.hold, "for", 0, "for how long the operator leaves the entries at Ignore, whatever the checker answers; up to 24h, 0 to end that")
	flags.StringVarP(&f.output, "output", "o", "text", "what to print: `text` or json")
	return cmd
}

// until is before when nothing is to be armed, by the time of the API server: zero for as soon as it can be, nil for what was said before.
func (f *disarmFlags) until(ctx context.Context, cluster *disarm.Cluster) (*time.Time, error) {
	switch {
	case !f.holds:
		return nil, nil
	case f.hold == 0:
		return &time.Time{}, nil
	}
	now, err := cluster.Now(ctx)
	return ptr.To(now.Add(f.hold).Truncate(time.Second)), err
}

func (f *disarmFlags) run(ctx context.Context, in io.Reader, out io.Writer) error {
	if err := f.intent.validate(f.output); err != nil {
		return err
	}
	if f.hold < 0 || f.hold > longestHold {
		return fmt.Errorf("--for is %s, and can be 0 to %s", f.hold, longestHold)
	}
	config, err := f.Config()
	if err != nil {
		return err
	}
	cluster, err := disarm.NewCluster(config)
	if err != nil {
		return err
	}
	until, err := f.until(ctx, cluster)
	if err != nil {
		return err
	}
	tell := out
	if f.output == "json" {
		tell = io.Discard
	}
	plan, failed := cluster.Disarm(ctx, false, until)
	if err := showDisarming(tell, plan); err != nil {
		return errors.Join(failed, err)
	}
	switch {
	case failed != nil && plan.Nothing(): // what could not be read may refuse
	case plan.Nothing() && f.holds && f.hold == 0:
		fmt.Fprintln(tell, "Nothing to do: nobody has said until when entries stay as they are.")
	case plan.Nothing():
		fmt.Fprintln(tell, "Nothing to do: no entry of the checker refuses anything while nobody answers.")
	case f.dryRun:
		fmt.Fprintln(tell, "\nNothing was changed. To do it: capstan disarm --yes"+f.more())
	default:
		if !f.yes {
			if err := agreed(in, out); err != nil {
				return errors.Join(failed, err)
			}
		}
		if until, err = f.until(ctx, cluster); err != nil { // the answer may have taken its time
			return err
		}
		plan, failed = cluster.Disarm(ctx, true, until)
		fmt.Fprintln(tell)
		if err := showDisarming(tell, plan); err != nil || failed != nil {
			break
		}
		tellDisarmed(tell, plan)
	}
	if f.output == "json" {
		return errors.Join(failed, terminal.JSON(out, plan))
	}
	return failed
}

// more are the flags that --yes needs too.
func (f *disarmFlags) more() string {
	switch {
	case !f.holds:
		return ""
	case f.hold == 0:
		return " --for=0"
	}
	return " --for " + f.hold.String()
}

func showDisarming(out io.Writer, plan disarm.Plan) error {
	var text strings.Builder
	if err := plan.Write(&text); err != nil {
		return err
	}
	_, err := io.WriteString(out, printable(text.String()))
	return err
}

// tellDisarmed says what was done, and what takes it back.
func tellDisarmed(out io.Writer, plan disarm.Plan) {
	if !plan.Until.IsZero() {
		fmt.Fprintf(out, "\nThe operator leaves them so until %s; to end that before: capstan disarm --yes --for=0", plan.Until.UTC().Format(time.RFC3339))
	}
	fmt.Fprintln(out, "\nDone. The operator sets them back to Fail by itself, once the checker has a ready endpoint and has\nrefused a bad requirement through the API server. Look at the checker with:\n  oc -n openshift-cluster-api-operator get pods,endpointslices -l app.kubernetes.io/name=capstan-webhooks")
	if plan.Until.IsZero() {
		fmt.Fprintln(out, "hint: where it is reached by one API server and not by another: capstan disarm --yes --for 15m")
	}
}
