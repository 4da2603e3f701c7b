package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/capstan/plan"
	"github.com/capstan-capi/capstan/cmd/capstan/support"
	"github.com/capstan-capi/capstan/cmd/capstan/support/archive"
	"github.com/capstan-capi/capstan/controllers"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

type supportFlags struct {
	inspect.Access
	operatorNamespace string
	capiNamespace     string
	output            string
	plan              bool
	cacheDir          string
}

func supportCommand() *cobra.Command {
	f := &supportFlags{}
	cmd := &cobra.Command{
		Use:   "support",
		Short: "Collects what a bug report needs in one file, and no secret",
		Long: `Collects in one file what a bug report needs: how the machines stand and came there, what was recorded,
what revisions list, requirements, acts, Events of the operator, how pods stand, the end of the operator's log,
versions, and what the operator would do next, without values. Everything in it is plain text; index.json tells which parts are whole, cut or missing, and which
right was missing. capstan status, explain, history and replay read it with --from.

It is made of what an allowlist names: never of Secrets, of instances of Cluster API, of other ConfigMaps, of
environment variables and arguments, or of your kubeconfig. Nothing but gets and lists is sent. It needs no
running operator, and does with whatever rights there are; ClusterRole capstan-view and the Roles of the same name
have all that it takes but managedfields.json; of a plan they have the inputs. The file has 32 MiB at most, only you may read it, and nothing is overwritten.

The exit code is 0 if there is a file, whatever is missing in it, and 1 if there is none.`,
		Example: `  capstan support
  capstan support -o report.tar.gz && capstan status --from report.tar.gz
  tar xzOf report.tar.gz index.json | jq '.parts[] | select(.state != "whole")'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), time.Now())
		},
	}
	flags := cmd.Flags()
	f.Flags(flags)
	flags.StringVar(&f.operatorNamespace, "operator-namespace", "openshift-cluster-api-operator", "`namespace` of the operator")
	flags.StringVar(&f.capiNamespace, "capi-namespace", "openshift-cluster-api", "`namespace` that the providers are installed in")
	flags.StringVarP(&f.output, "output", "o", "", "`file` to write; without it capstan-support-<time>.tar.gz in this folder")
	flags.BoolVar(&f.plan, "plan", true, "also compute what the operator would do next, which takes the provider images")
	flags.StringVar(&f.cacheDir, "cache-dir", userCache(), "`folder` that keeps provider images by digest; empty for none")
	return cmd
}

// planned computes what the operator would do, over a connection that asks for no Secret and for no instance.
func (f *supportFlags) planned(now time.Time) func(context.Context, *rest.Config) (any, error) {
	if !f.plan {
		return nil
	}
	as := &planFlags{operatorNamespace: f.operatorNamespace, capiNamespace: f.capiNamespace, sources: sources{cacheDir: f.cacheDir}}
	return func(ctx context.Context, config *rest.Config) (any, error) {
		foreseer, err := as.foreseer(config)
		if err != nil {
			return nil, err
		}
		state, told := as.told(ctx, config)
		seen, err := foreseer.Foresee(ctx, phases.Instead{Acts: told}, engine.ForeseeOptions{MayTry: func(context.Context, engine.Request) bool { return false }})
		if err != nil {
			return nil, err
		}
		return plan.Computed(ctx, seen, state, now), nil
	}
}

func (f *supportFlags) run(ctx context.Context, out, progress io.Writer, now time.Time) error {
	name := f.output
	if name == "" {
		name = "capstan-support-" + now.UTC().Format("20060102T150405Z") + ".tar.gz"
	}
	switch _, err := os.Lstat(name); {
	case err == nil:
		return fmt.Errorf("%s is there already, and nothing is overwritten: name another file with -o", name)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("looking for %s: %w", name, err)
	}
	config, err := f.Config()
	if err != nil {
		return err
	}
	made, err := support.Collect(ctx, config, support.Options{
		OperatorNamespace: f.operatorNamespace, CAPINamespace: f.capiNamespace, Machines: machineNames(), Capstan: version(), At: now, Plan: f.planned(now),
		Tell: func(part string, done archive.State, why string) {
			if done == "" {
				fmt.Fprintf(progress, "reading  %s\n", part)
				return
			}
			fmt.Fprintf(out, "%-8s %s", done, part)
			if why != "" {
				fmt.Fprintf(out, ": %s", printable(why))
			}
			fmt.Fprintln(out)
		},
	})
	if err != nil {
		return err
	}
	if err := made.Create(name); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s is written. Look at what is in it before you give it to others.\n", printable(name))
	return nil
}

func machineNames() (names []string) {
	for _, view := range controllers.Views() {
		names = append(names, view.Table.Name)
	}
	return names
}
