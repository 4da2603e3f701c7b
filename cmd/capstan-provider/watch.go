package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/capstan-capi/capstan/cmd/capstan-provider/standing"
	"github.com/capstan-capi/capstan/cmd/capstan-provider/watching"
	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/terminal"
	"github.com/capstan-capi/capstan/transport"
)

const (
	// notInTime is the exit code of a watch whose time is over, interrupted that of one that somebody has ended.
	notInTime   = 2
	interrupted = 130
)

type watchFlags struct {
	inspect.Access
	most   time.Duration
	output string
}

func watchCommand() *cobra.Command {
	f := &watchFlags{}
	cmd := &cobra.Command{
		Use:   "watch NAMESPACE/NAME",
		Short: "Tells what changes while a cluster is installed, until it is installed or does not go on",
		Long: `Watches an OpenShiftControlPlane, and the Cluster, the Machines and the OpenShiftConfigs that belong to it, and prints a
line for each change: the state, what is waited for and until when, and every condition. At the beginning it tells the
state, and those conditions that are not as they are of a cluster at rest. It ends when the cluster is installed, or
when its state is Failed or Degraded. A management plane that does not answer meanwhile is waited for.

It needs the right to get, list and watch OpenShiftControlPlanes in the namespace. Without that to list and watch
clusters, machines and openshiftconfigs it tells of those that it may see. It writes nothing.

Exit codes:

  0    Installed
  1    there is no such OpenShiftControlPlane, it is gone, or it could not be read at the beginning
  2    neither within --timeout
  10   Failed at infrastructure: it was not provisioned, or nobody says where the API will be, or a hook
  11   Failed at inputs: install-config, manifests, release, or the Ignition configs made of them
  12   Failed at machines: they were not provisioned
  13   Failed at the API of the cluster: it has not answered
  14   Failed at bootstrap: the control plane has not moved off the bootstrap machine
  15   Degraded at operators of the cluster: they are not available
  130  interrupted`,
		Example: `  capstan-provider watch fleet/example --timeout 2h && oc get nodes
  capstan-provider watch fleet/example -o json | jq -c 'select(.state != null)'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	f.Flags(flags)
	flags.DurationVar(&f.most, "timeout", 0, "how long to watch at most; 0 for no bound")
	flags.StringVarP(&f.output, "output", "o", "text", "what to print: `text`, or json for a line of JSON for each change")
	return cmd
}

func (f *watchFlags) run(ctx context.Context, named string, out, errs io.Writer) error {
	if err := terminal.CheckOutput(f.output); err != nil {
		return err
	}
	if f.most < 0 {
		return fmt.Errorf("--timeout is %s, and has to be 0 or more", f.most)
	}
	key, err := standing.Key(named)
	if err != nil {
		return err
	}
	config, err := f.Config()
	if err != nil {
		return err
	}
	// The bound of one request would end every watch; these have bounds of their own.
	config.Timeout = 0
	config.Wrap(transport.Bound)
	watcher, err := watching.New(config, key, func(c watching.Change) error {
		if f.output == "json" {
			return terminal.JSONLine(out, c)
		}
		_, err := fmt.Fprintln(out, c.Line())
		return err
	})
	if err != nil {
		return err
	}
	watcher.Patience = f.Timeout
	klog.SetLogger(logr.Discard()) // what the watches log is told as changes
	if f.most > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.most)
		defer cancel()
	}
	step, err := watcher.Run(ctx)
	return f.ended(ctx, errs, key.String(), step, err)
}

// ended is the exit code, with what is to be said of it beside what was printed.
func (f *watchFlags) ended(ctx context.Context, errs io.Writer, key string, step standing.Step, err error) error {
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		fmt.Fprintf(errs, "Neither installed nor stopped within %s.\n", f.most)
		return exit(notInTime)
	case err != nil && ctx.Err() != nil:
		return exit(interrupted)
	case err != nil:
		return err
	case step == 0:
		return nil
	}
	fmt.Fprintf(errs, "It does not go on: it has stopped at %s. To see why: %s explain %s\n", step, name, key)
	return exit(step)
}
