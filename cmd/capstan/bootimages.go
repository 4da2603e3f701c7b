package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/capstan-capi/capstan/cmd/capstan/bootimages"
	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/terminal"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootgate"
)

// bootImagesRights is what both commands read.
const bootImagesRights = `It reads live objects, by the operator's own questions, and beside them what the operator has stored of what
looking would not show; so it tells the same while no operator runs, and says how old that is. It needs the
right to get ClusterOperator cluster-api, MachineConfiguration and Infrastructure cluster, ClusterVersion version,
ConfigMap coreos-bootimages in openshift-machine-config-operator, and ConfigMaps in the operator's namespace; and to
list Nodes, MachineSets and ControlPlaneMachineSets of Machine API, and Clusters, MachineSets, MachineDeployments and
templates of Cluster API. With the right to get Secrets it tells which version an Ignition stub is of, and nothing else
of it; without, it says that the version is not known. With that to get Lease capstan-leader it tells whether an
operator is at work. It writes nothing.`

// lookAtImagesEvery is how often --watch looks: each look lists all that may be a target.
const lookAtImagesEvery = 5 * time.Second

type bootImagesFlags struct {
	inspect.Access
	operatorNamespace, capiNamespace string
	apis                             []string
	output                           string
}

func (f *bootImagesFlags) addFlags(flags *pflag.FlagSet) {
	f.Flags(flags)
	flags.StringVar(&f.operatorNamespace, "operator-namespace", "openshift-cluster-api-operator", "`namespace` of the operator, its Lease and what it stores of targets")
	flags.StringVar(&f.capiNamespace, "capi-namespace", "openshift-cluster-api", "`namespace` of the targets of Cluster API")
	flags.StringSliceVar(&f.apis, "boot-images", nil, "`APIs` to look at, MachineAPI, ClusterAPI or both with a comma, in place of those that the operator says it looks after")
	flags.StringVarP(&f.output, "output", "o", "text", "what to print: `text` or json")
}

// look looks at the cluster, and finds the target that is named; none is for no name.
func (f *bootImagesFlags) look(ctx context.Context, names []string) (*bootimages.Look, machine.Key, error) {
	if err := terminal.CheckOutput(f.output); err != nil {
		return nil, "", err
	}
	settings := defaultBootImages()
	if len(f.apis) > 0 {
		settings.apis = f.apis
	}
	if err := settings.validate(); err != nil {
		return nil, "", err
	}
	config, err := f.Config()
	if err != nil {
		return nil, "", err
	}
	look, err := bootimages.At(ctx, config, bootimages.Options{
		OperatorNamespace: f.operatorNamespace, CAPINamespace: f.capiNamespace, Lease: leaseName, APIs: f.apis, Now: time.Now,
		Settings: bootgate.Settings{
			APIs: settings.apis, GCPProject: settings.gcpProject, Stream: settings.stream, Limits: settings.limits, RollsOutBefore: settings.rollsOutBefore,
		},
	})
	if err != nil || len(names) == 0 {
		return look, "", err
	}
	key, err := look.Name(names[0])
	return look, key, err
}

// defaultBootImages are the operator's flags as deploy has them.
func defaultBootImages() *bootImageFlags {
	f := &bootImageFlags{}
	f.addFlags(pflag.NewFlagSet("", pflag.ContinueOnError))
	f.apis = []string{bootgate.ClusterAPI}
	return f
}

func bootImagesStatusCommand() *cobra.Command {
	f, exitCode, watch := &bootImagesFlags{}, false, false
	cmd := &cobra.Command{
		Use:   "boot-images [TARGET]",
		Short: "Tells which machine templates have the release's boot image, and why others have not",
		Long: `Tells which machine templates, called targets, have the boot image of the running release: the gate and the
first question that it does not answer with Yes, how many targets of each kind are done, whether boot images are too
old for the next upgrade, and each target that has not the wanted image, with the reason and the next step. With a
target it tells of that one.

` + bootImagesRights + `

With --watch it looks every five seconds and draws over what it drew before; into a file or a pipe it prints a line
whenever something has changed. Ctrl-c ends it.

Exit codes: 0 if it could be read, 1 if not, or if there is no such target. With --exit-code:

  code  boot-images                                  one target
  0     the gate is Off or Open, and all targets     Current
        that count have the wanted image
  1     could not be read                            could not be read, or there is none
  2     the gate waits, a target is on its way or    Unenrolled, Excluded, Deciding, UpgradingStub,
        skipped, or nothing is reported              Cloning, Settling, Skipped
  3     the gate is ConfigOverdue, GoldenBroken or   HotLoop, Failed
        VoucherOverdue, or a target HotLoop or Failed`,
		Example: `  capstan status boot-images
  capstan status boot-images -o json | jq '.targets[] | select(.state == "Skipped") | .next'
  capstan status boot-images --watch
  capstan status boot-images machineset/worker --exit-code`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			if watch {
				return follow(cmd.Context(), cmd.OutOrStdout(), f.output, lookAtImagesEvery, func(ctx context.Context) (inspect.Status, error) {
					return f.status(ctx, names)
				})
			}
			status, err := f.status(cmd.Context(), names)
			if err == nil {
				err = terminal.Tell(cmd.OutOrStdout(), f.output, status, time.Now())
			}
			if err != nil || !exitCode {
				return err
			}
			return exit(status.Code())
		},
	}
	f.addFlags(cmd.Flags())
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "go on looking, every five seconds")
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "make what is found the exit code, by the table above")
	return cmd
}

// status looks once.
func (f *bootImagesFlags) status(ctx context.Context, names []string) (bootimages.Status, error) {
	look, key, err := f.look(ctx, names)
	if err != nil {
		return bootimages.Status{}, err
	}
	return look.Status(key)
}

func bootImagesExplainCommand() *cobra.Command {
	f := &bootImagesFlags{}
	cmd := &cobra.Command{
		Use:   "boot-images [TARGET]",
		Short: "Explains why boot images may not be moved, or why one target has not moved",
		Long: `Explains why boot images may or may not be moved: the questions of the gate in the order in which it asks them,
what each answers now and what was seen for that, and what is enrolled.

With a target it explains why that one has or has not moved: what enrols and what excludes it, its image and the
wanted one, whether it may be written, how many attempts are left, which version its Ignition stub is of, what each
question about it answers, and the next step. A target is named as KIND/NAME. The kind may be whole, as
machinesets.cluster.x-k8s.io, or short, as machineset, md or cpms, or left out, where that is unambiguous.

` + bootImagesRights + `

The exit code is 1 if it could not be read, or if there is no such target.`,
		Example: `  capstan explain boot-images
  capstan explain boot-images machinesets.cluster.x-k8s.io/worker
  capstan explain boot-images machineset/worker -o json | jq .next`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			look, key, err := f.look(cmd.Context(), names)
			if err != nil {
				return err
			}
			if key != "" {
				target, found := look.Explain(key)
				if !found {
					return fmt.Errorf("%s is gone", key)
				}
				return terminal.Tell(cmd.OutOrStdout(), f.output, target, time.Now())
			}
			gate, err := look.ExplainGate()
			if err != nil {
				return err
			}
			return terminal.Tell(cmd.OutOrStdout(), f.output, gate, time.Now())
		},
	}
	f.addFlags(cmd.Flags())
	return cmd
}
