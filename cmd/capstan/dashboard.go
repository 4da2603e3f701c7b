package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/cmd/capstan/dashboard"
	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/controllers"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// maxContexts is how many clusters there may be on one page.
const maxContexts = 16

type dashboardFlags struct {
	access            inspect.Access
	contexts          []string
	port              int
	operatorNamespace string
	capiNamespace     string
	cacheDir          string
}

func dashboardCommand() *cobra.Command {
	f := &dashboardFlags{}
	cmd := &cobra.Command{
		Use:   "dashboard",
		Short: "Shows in a browser on this machine how clusters stand, and changes nothing",
		Long: `Serves a page on this machine, for you alone, that shows one cluster, or several contexts: each machine's diagram
with the state it is in, how it came there, what can happen next and when; waves, objects that need a look, acts with
their ends, what the operator would do next, the history of revisions, and families of machines as counts, with a
list and a search. It acts on nothing: it shows the command to copy.

It prints an address with a code that works once, within ten minutes; Enter prints a new one. It listens on 127.0.0.1
only, and ends with ctrl-c.

It looks with your rights, by watch, and where you may not watch, by get; while nobody has the page open it asks
nothing. Nothing but gets, lists, watches, and for a plan dry runs and reviews is sent. ClusterRole capstan-view and the
Roles of the same name have all that it takes; of a plan they have the inputs, and what you may not read beside that
is unseen in it. Without some of that it tells what is missing.`,
		Example: `  capstan dashboard
  capstan dashboard --context prod --context stage`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.access.Kubeconfig, "kubeconfig", "", "kubeconfig `file`; without it KUBECONFIG, then ~/.kube/config, then the pod's service account")
	flags.StringArrayVar(&f.contexts, "context", nil, "`name` of a context of the kubeconfig to show (repeatable)")
	flags.StringVar(&f.access.As, "as", "", "`user` to act as")
	flags.IntVar(&f.port, "port", 0, "`port` of this machine to listen on; 0 for one that is free")
	flags.StringVar(&f.operatorNamespace, "operator-namespace", "openshift-cluster-api-operator", "`namespace` of the operator and its ConfigMaps")
	flags.StringVar(&f.capiNamespace, "capi-namespace", "openshift-cluster-api", "`namespace` that the providers are installed in")
	flags.StringVar(&f.cacheDir, "cache-dir", userCache(), "`folder` that keeps provider images by digest, for plans; empty for none")
	return cmd
}

// clusters are those of the contexts that are named, or that of the current one.
func (f *dashboardFlags) clusters() ([]dashboard.Cluster, error) {
	names := f.contexts
	if len(names) == 0 {
		names = []string{f.access.Current()}
	}
	if len(names) > maxContexts {
		return nil, fmt.Errorf("%d contexts are named, and %d is the most", len(names), maxContexts)
	}
	var all []dashboard.Cluster
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("context %q is named twice", name)
		}
		access := f.access
		access.Context = name
		if name == "" {
			name = "this pod's cluster"
		}
		all = append(all, dashboard.Cluster{Name: name, Access: access})
	}
	return all, nil
}

func (f *dashboardFlags) run(ctx context.Context, in io.Reader, out io.Writer) error {
	if f.port < 0 || f.port > 65535 {
		return fmt.Errorf("--port is %d, and has to be from 0 to 65535", f.port)
	}
	clusters, err := f.clusters()
	if err != nil {
		return err
	}
	tell := func(text string) { fmt.Fprintln(out, printable(text)) }
	server, err := dashboard.Listen(ctx, f.port, dashboard.Options{
		Views: controllers.Views(), Clusters: clusters, OperatorNamespace: f.operatorNamespace, Plan: f.plan, Tell: tell,
	})
	if err != nil {
		return err
	}
	tell(server.Address())
	tell("It works once, within ten minutes, and is for you alone. Enter prints a new one, ctrl-c ends the dashboard.")
	signal.Ignore(syscall.SIGTTIN) // in the background nobody presses Enter, which is no reason to stop
	go func() {
		for lines := bufio.NewReader(in); ; {
			if _, err := lines.ReadSlice('\n'); err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				return
			}
			tell(server.Address())
		}
	}()
	return server.Serve() //nolint:contextcheck // each request has a context of its own
}

// plan makes a plan over a connection that changes nothing, as `capstan plan` does.
func (f *dashboardFlags) plan(ctx context.Context, config *rest.Config) (any, error) {
	config = rest.CopyConfig(config)
	config.Timeout = dryRunTimeout
	as := &planFlags{
		operatorNamespace: f.operatorNamespace, capiNamespace: f.capiNamespace, account: operatorAccount, pullSecrets: []string{pullSecret},
		sources: sources{cacheDir: f.cacheDir},
	}
	look, err := as.foreseeBy(ctx, config, phases.Instead{})
	if err != nil {
		return nil, err
	}
	return look.plan(ctx), nil
}
