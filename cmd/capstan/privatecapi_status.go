package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/capstan-capi/capstan/cmd/capstan/hosted"
	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/terminal"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/privatecapi"
)

// hostedRights is what both commands read.
const hostedRights = `It needs the right to list HostedClusters, and to get ConfigMap capstan-private-capi in the operator's namespace. With
the right to get Lease capstan-private-capi it tells who has the lock, with that to get ClusterOperator cluster-api
what becomes of the old operator, and with that to get all ConfigMaps of the namespace since when a state lasts, until
when, and how it was come to. ClusterRole capstan-private-capi-view has all but the last, which Role capstan-view has.
It writes nothing.`

type hostedFlags struct {
	inspect.Access
	namespace string
	output    string
}

func (f *hostedFlags) add(flags *pflag.FlagSet) {
	f.Flags(flags)
	flags.StringVar(&f.namespace, "operator-namespace", "openshift-cluster-api-operator", "`namespace` of the operator")
	flags.StringVarP(&f.output, "output", "o", "text", "what to print: `text` or json")
}

func (f *hostedFlags) cluster() (*hosted.Cluster, error) {
	config, err := f.Config()
	if err != nil {
		return nil, err
	}
	return hosted.NewCluster(config, f.namespace, leaseName)
}

// hostedKey is the HostedCluster that is named, empty for none.
func hostedKey(names []string) (machine.Key, error) {
	if len(names) == 0 {
		return "", nil
	}
	key := machine.Key(names[0])
	namespace, name := privatecapi.Split(key)
	if len(validation.IsDNS1123Label(namespace))+len(validation.IsDNS1123Subdomain(name)) > 0 {
		return "", fmt.Errorf("%q is not of the form NAMESPACE/NAME, such as clusters/example", names[0])
	}
	return key, nil
}

// closely is what a command looks at: all HostedClusters, or the one that is named, by the clock of the API server.
type closely struct {
	hosted.Seen
	key machine.Key
	now time.Time
}

func (f *hostedFlags) closer(ctx context.Context, names []string) (closely, error) {
	if err := terminal.CheckOutput(f.output); err != nil {
		return closely{}, err
	}
	key, err := hostedKey(names)
	if err != nil {
		return closely{}, err
	}
	cluster, err := f.cluster()
	if err != nil {
		return closely{}, err
	}
	seen, err := cluster.Closer(ctx, key)
	if err != nil {
		return closely{}, err
	}
	now, err := cluster.Now()
	return closely{seen, key, now}, err
}

func privateStatusCommand() *cobra.Command {
	f, exitCode := &hostedFlags{}, false
	cmd := &cobra.Command{
		Use:   "status [NAMESPACE/NAME]",
		Short: "Tells which hosted clusters have private types, and where each move stands",
		Long: `Tells of each HostedCluster who reconciles it, the state of its move and for how long, the stage and the direction of
one that is under way, what people have asked for, why a move was undone, and what it waits for; how many there are
in each state; and of the programme since when it is enabled, whether it is paused, who has the lock, and for how
long the old operator is kept. With a HostedCluster it tells of that one.

` + hostedRights + `

Exit codes: 0 if it could be read, 1 if not, or if there is no such HostedCluster. With --exit-code:

  code  all HostedClusters, or the one that is named
  0     Private, or moved back because somebody asked for it
  1     could not be read
  2     one waits, moves or is being classified, or nobody tells of it
  3     one is Failed for another reason, Held, Ambiguous or Blocked`,
		Example: `  capstan private-capi status
  capstan private-capi status clusters/example
  capstan private-capi status -o json | jq '.hostedClusters[] | select(.failed != null) | .hostedCluster'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			seen, err := f.closer(cmd.Context(), names)
			if err != nil {
				return err
			}
			status, err := seen.Status(seen.key)
			if err == nil {
				err = terminal.Tell(cmd.OutOrStdout(), f.output, status, seen.now)
			}
			if err != nil || !exitCode {
				return err
			}
			return exit(status.Code())
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "make what is found the exit code, by the table above")
	return cmd
}

func privateExplainCommand() *cobra.Command {
	f := &hostedFlags{}
	cmd := &cobra.Command{
		Use:   "explain NAMESPACE/NAME",
		Short: "Explains why a hosted cluster has not moved, or why its move was undone, and what to do",
		Long: `Explains in one screen where a HostedCluster stands: what its state means, what it waits for and until when, why a
move was undone and what to look at, how it came there, and the next step.

` + hostedRights + `

The exit code is 1 if it could not be read, or if there is no such HostedCluster.`,
		Example: `  capstan private-capi explain clusters/example
  capstan private-capi explain clusters/example -o json | jq -r .next`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			seen, err := f.closer(cmd.Context(), names)
			if err != nil {
				return err
			}
			explanation, err := seen.Explain(seen.key)
			if err != nil {
				return err
			}
			return terminal.Tell(cmd.OutOrStdout(), f.output, explanation, seen.now)
		},
	}
	f.add(cmd.Flags())
	return cmd
}
