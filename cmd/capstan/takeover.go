package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/capstan/takeover"
	"github.com/capstan-capi/capstan/cmd/terminal"
)

type takeoverFlags struct {
	inspect.Access
	namespace, capiNamespace string
	intent
	override bool
	back     bool
	timeout  time.Duration
	output   string
}

func takeoverCommand() *cobra.Command {
	f := &takeoverFlags{}
	cmd := &cobra.Command{
		Use:   "takeover [--back]",
		Short: "Ends the installer that OpenShift shipped before, so that the operator takes over what it installed",
		Long: `Stops the former installer (Deployments capi-operator and capi-installer), waits until nobody holds
its Leases, and removes what it leaves behind: its Leases, its RBAC, its ServiceAccounts, Services and
ServiceMonitors, its conditions on ClusterOperator cluster-api. Nothing that it has installed is
touched: the operator, which waits meanwhile, takes that over in place. Each object is named, with what
happens to it and why.

Where the cluster-version operator would put a Deployment back, it is stopped only with --override,
which writes spec.overrides of ClusterVersion version. An override blocks upgrades of the cluster:
take it out before the next one. What else the release brings stays until a release does not have it.

Nothing is done unless the operator is there to go on: its Deployment is available, or its Lease is
held. Afterwards both Deployments are looked at again: one that came back is an error.

--back is the way back. It stops the operator, and removes its admission policies, which let nobody
else write what the former installer writes, its alerts, NetworkPolicies and RBAC, and its annotations
of the list of images. Nothing that is installed is touched. The former installer goes on by itself.

On a terminal it asks before it does so; without one it wants --yes. --dry-run shows what it would do. It can be
done again at any time. It needs the right to get and delete these objects, to patch the status of ClusterOperator cluster-api, and with
--override to patch ClusterVersion version.

Exit codes: 0 if there is nothing to do, it was done, or could be done with --yes; 1 if not.`,
		Example: `  capstan takeover --dry-run
  capstan takeover --yes && capstan status --watch`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	f.Flags(flags)
	flags.StringVar(&f.namespace, "operator-namespace", "openshift-cluster-api-operator", "`namespace` of the operator and of the former installer")
	flags.StringVar(&f.capiNamespace, "capi-namespace", "openshift-cluster-api", "`namespace` of Cluster API")
	f.intent.flags(flags)
	flags.BoolVar(&f.override, "override", false, "tell the cluster-version operator to leave alone what is stopped")
	flags.BoolVar(&f.back, "back", false, "stop the operator instead, and make room for the former installer")
	flags.DurationVar(&f.timeout, "timeout", 5*time.Minute, "how long looking may take, and again all that is done")
	flags.StringVarP(&f.output, "output", "o", "text", "what to print: `text` or json")
	return cmd
}

func (f *takeoverFlags) run(ctx context.Context, in io.Reader, out, progress io.Writer) error {
	if err := f.intent.validate(f.output); err != nil {
		return err
	}
	config, err := f.Config()
	if err != nil {
		return err
	}
	cluster, err := takeover.NewCluster(config, f.namespace, f.capiNamespace)
	if err != nil {
		return err
	}
	cluster.Progress = func(line string) { fmt.Fprintln(progress, line) }
	plan, err := f.plan(ctx, cluster)
	if err != nil {
		return err
	}
	acts := !f.dryRun && len(plan.NeedsOverride) == 0 && plan.Absent == nil
	if acts && !f.yes && plan.Running() {
		if err := plan.Write(out); err != nil {
			return err
		}
		if err := agreed(in, out); err != nil {
			return err
		}
		shown := plan
		if plan, err = f.plan(ctx, cluster); err != nil {
			return err
		}
		if !plan.Same(shown) {
			return &inspect.Error{What: "what there is has changed since it was shown: nothing was done", Next: "look again: capstan takeover" + f.more()}
		}
	}
	var failed error
	if acts {
		ctx, cancel := context.WithTimeout(ctx, f.timeout)
		defer cancel()
		failed = cluster.Act(ctx, &plan)
	}
	return f.tell(out, plan, failed)
}

func (f *takeoverFlags) plan(ctx context.Context, cluster *takeover.Cluster) (takeover.Plan, error) {
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	if f.back {
		return cluster.PlanBack(ctx, f.override)
	}
	return cluster.Plan(ctx, f.override)
}

// tell says what is to be done, or was, and what failed of it.
func (f *takeoverFlags) tell(out io.Writer, plan takeover.Plan, failed error) error {
	var err error
	if f.output == "json" {
		err = terminal.JSON(out, plan)
	} else {
		err = plan.Write(out)
	}
	switch {
	case failed != nil || err != nil:
		return errors.Join(err, failed)
	case plan.Absent != nil:
		return plan.Absent
	case len(plan.NeedsOverride) > 0:
		return &inspect.Error{
			What: "the cluster-version operator would put back " + strings.Join(plan.NeedsOverride, " and ") + ": nothing was changed",
			Next: "upgrade to a release without it, or add --override, which blocks upgrades of the cluster until the override is taken out",
		}
	case f.output == "json" || !plan.Running():
		return nil
	case plan.Done && f.back:
		fmt.Fprintln(out, "Done. The former installer goes on by itself once its release, or an override that is taken out, has brought it.")
	case plan.Done:
		fmt.Fprintln(out, "Done. The operator goes on by itself; watch it with: capstan status --watch")
	default:
		fmt.Fprintln(out, "Nothing was changed. To do it: capstan takeover --yes"+f.more())
	}
	return nil
}

// more are the flags that --yes needs too.
func (f *takeoverFlags) more() string {
	text := ""
	if f.back {
		text += " --back"
	}
	if f.override {
		text += " --override"
	}
	return text
}
