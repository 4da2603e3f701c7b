// Command capi-proxy serves the API of private Cluster API types under their standard names. It is a binary of its own because a
// process has what is linked into it in memory, and there is one beside each component: all of capstan would be twice as much.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	// An image from scratch has no root certificates; where a system has some, they count instead.
	_ "golang.org/x/crypto/x509roots/fallback"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager/signals"

	"github.com/capstan-capi/capstan/cmd/capi-proxy/command"
	"github.com/capstan-capi/capstan/phases/apiproxy"
)

// memory is how much the runtime keeps within, as far as it can, in bytes: less than the limit of the container, whose end would
// be the end of all watches. The environment variable GOMEMLIMIT counts instead.
const memory = 80 << 20

func main() {
	cmd := command.New(serve)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.ExecuteContext(signals.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, command.Name+":", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, f *command.Flags) error {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memory)
	}
	log := zap.New(zap.UseDevMode(false))
	ctrllog.SetLogger(log)
	config, err := configOf(f.Kubeconfig)
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	proxy, err := apiproxy.New(config, registry, log.WithName(command.Name))
	if err != nil {
		return err
	}
	health := f.HealthAddress
	if health == "0" {
		health = ""
	}
	server, err := apiproxy.Listen(ctx, proxy, registry, f.Address, health)
	if err != nil {
		return err
	}
	if f.WriteKubeconfig != "" {
		if err := server.Protect(f.WriteKubeconfig); err != nil {
			return err
		}
	}
	log.Info("The API is served", "address", server.Address(), "health", server.HealthAddress(), "server", config.Host)
	return server.Run(ctx)
}

// configOf finds the cluster. Its requests are not bounded as those of the operator are: they are the component's.
func configOf(kubeconfig string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %w", err)
	}
	return config, nil
}
