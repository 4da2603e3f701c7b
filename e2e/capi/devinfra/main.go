// Command devinfra is the dev provider of Cluster API with the in-memory backend alone, whose clusters look like OpenShift's; see package
// guest. Its reconcilers of clusters and machines are the provider's own, unmodified. It takes the arguments of the provider's Deployment,
// and has no webhooks, no templates' reconciler, which asks a container engine, and no migration of definitions.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	infrav1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta2"
	inmemoryserver "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/server"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/capstan-capi/capstan/e2e/capi/guest"
	"github.com/capstan-capi/capstan/e2e/private/worlds/private/inmemory"
)

const name = "devinfra"

// host is where the fake API servers are; nobody but the fronts before them asks there.
const host = "127.0.0.1"

// range of ports that each process takes from its first on.
const portRange = 500

func main() {
	health := pflag.String("health-addr", ":9440", "the `address` of the health endpoint")
	metrics := pflag.String("diagnostics-address", "0", "the `address` of metrics, 0 for none")
	first := pflag.Int32("first-port", 20000, "the first of the 500 `ports` that the fake API servers take")
	// What the Deployment says beside: there is nothing here that it would change.
	pflag.Bool("leader-elect", false, "ignored: one process at a time")
	pflag.Bool("insecure-diagnostics", false, "ignored: metrics are served as they are")
	pflag.StringSlice("feature-gates", nil, "ignored: no gate of the provider is about memory")
	pflag.CommandLine.AddGoFlagSet(flag.CommandLine)
	pflag.Parse()
	ctrl.SetLogger(klog.Background())
	if err := run(ctrl.SetupSignalHandler(), *health, *metrics, *first); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, health, metrics string, first int32) error {
	mgr, err := inmemory.NewManager(inmemory.Options{Name: name, Health: health, Metrics: metrics, Webhooks: webhook.NewServer(webhook.Options{})})
	if err != nil {
		return err
	}
	memory, err := inmemory.NewMemory(ctx, host, inmemoryserver.CustomPorts{DebugPort: first, MinPort: first + 1, MaxPort: first + portRange - 1})
	if err != nil {
		return err
	}
	if err := memory.AddReconcilers(ctx, mgr, name, forgetful{mgr.GetClient()}); err != nil {
		return err
	}
	if err := mgr.Add(&guest.Guests{Client: mgr.GetClient(), Memory: memory, Log: mgr.GetLogger()}); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// forgetful lets the reconciler of clusters find none when it looks for those of a process before it. It would give their fake API
// servers the ports of their endpoints, at which the guests' fronts are.
type forgetful struct{ client.Client }

// List is that of the client, but for DevClusters.
func (f forgetful) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, is := list.(*infrav1.DevClusterList); is {
		return nil
	}
	return f.Client.List(ctx, list, options...)
}
