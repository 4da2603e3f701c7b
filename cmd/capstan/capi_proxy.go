package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/capstan-capi/capstan/phases/apiproxy"
)

// proxyMemory is how much memory the runtime keeps within, as far as it can, in bytes: less than the limit of the container,
// whose end would be the end of all watches. The environment variable GOMEMLIMIT counts instead.
const proxyMemory = 80 << 20

type capiProxyFlags struct {
	kubeconfig    string
	address       string
	healthAddress string
}

func capiProxyCommand() *cobra.Command {
	f := &capiProxyFlags{}
	cmd := &cobra.Command{
		Use:   "capi-proxy",
		Short: "Serves the API of private Cluster API types under their standard names until it is told to stop",
		Long: `Stands between a component of Cluster API and the API server, in the component's own pod. The component
speaks of the groups cluster.x-k8s.io; the server stores cluster.hypershift.openshift.io; every request
and answer is translated on its way. It serves plain HTTP on loopback and asks the server as the pod's
service account: what a client says of its own identity is dropped. Nothing is cached, and nothing is
kept when it ends.

It is ready once the server was. When it is told to stop, requests may go on for 5 s.`,
		Example: `  capstan capi-proxy --kubeconfig ~/.kube/config --address 127.0.0.1:8080 --health-address 127.0.0.1:8081`,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig `file`; without it KUBECONFIG, then ~/.kube/config, then the pod's service account, whose token is read again every minute")
	flags.StringVar(&f.address, "address", "127.0.0.1:8080", "loopback `address` to serve the API on, in plain HTTP")
	flags.StringVar(&f.healthAddress, "health-address", ":8081", "`address` to serve /healthz, /readyz and /metrics on; 0 for none")
	return cmd
}

func (f *capiProxyFlags) run(ctx context.Context) error {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(proxyMemory)
	}
	ctrl.SetLogger(zap.New(zap.UseDevMode(false)))
	config, err := f.config()
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	proxy, err := apiproxy.New(config, registry, ctrl.Log.WithName("capi-proxy"))
	if err != nil {
		return err
	}
	health := f.healthAddress
	if health == "0" {
		health = ""
	}
	server, err := apiproxy.Listen(ctx, proxy, registry, f.address, health)
	if err != nil {
		return err
	}
	ctrl.Log.Info("The API is served", "address", server.Address(), "health", server.HealthAddress(), "server", config.Host)
	return server.Run(ctx)
}

// config finds the cluster. Its requests are not bounded as those of the operator are: they are the component's.
func (f *capiProxyFlags) config() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %w", err)
	}
	return config, nil
}
