// Command otherports is the dev provider of Cluster API with the in-memory
// backend alone, on ports that its own program leaves free: the two can serve
// clusters on one machine, which one program twice cannot. It does nothing that
// the dev provider does not do; only its main package is another one.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/klog/v2"
	"sigs.k8s.io/cluster-api/test/infrastructure/container"
	"sigs.k8s.io/cluster-api/test/infrastructure/docker/controllers"
	infrawebhooks "sigs.k8s.io/cluster-api/test/infrastructure/docker/webhooks"
	inmemoryserver "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/server"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/capstan-capi/capstan/e2e/private/worlds/private/inmemory"
)

// ports are above those of the dev provider's own program, 19000 and 20000 to 30000,
// and below those that Linux gives to whoever asks for any.
var ports = inmemoryserver.CustomPorts{MinPort: 30001, MaxPort: 32000, DebugPort: 19001}

const name = "dev-provider-on-other-ports"

// workers is how many templates are reconciled at a time.
const workers = 20

func main() {
	health := flag.String("health-addr", ":9440", "the `address` of the health endpoint")
	port := flag.Int("webhook-port", 9443, "the `port` of the webhooks")
	metrics := flag.String("diagnostics-address", "0", "the `address` of metrics, 0 for none")
	certificates := flag.String("webhook-cert-dir", "", "the `folder` with tls.crt and tls.key of the webhooks")
	flag.Parse()
	ctrl.SetLogger(klog.Background())
	server := webhook.NewServer(webhook.Options{Port: *port, CertDir: *certificates})
	if err := run(ctrl.SetupSignalHandler(), *health, *metrics, server); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, health, metrics string, server webhook.Server) error {
	mgr, err := inmemory.NewManager(inmemory.Options{Name: name, Health: health, Metrics: metrics, Webhooks: server})
	if err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("webhook", server.StartedChecker()); err != nil {
		return err
	}
	if err := addReconcilers(ctx, mgr); err != nil {
		return err
	}
	for _, hook := range []interface{ SetupWebhookWithManager(ctrl.Manager) error }{
		&infrawebhooks.DevMachine{}, &infrawebhooks.DevMachineTemplate{}, &infrawebhooks.DevCluster{}, &infrawebhooks.DevClusterTemplate{},
	} {
		if err := hook.SetupWebhookWithManager(mgr); err != nil {
			return err
		}
	}
	return mgr.Start(ctx)
}

func addReconcilers(ctx context.Context, mgr ctrl.Manager) error {
	memory, err := inmemory.NewMemory(ctx, os.Getenv("POD_IP"), ports)
	if err != nil {
		return err
	}
	if err := memory.AddReconcilers(ctx, mgr, name, mgr.GetClient()); err != nil {
		return err
	}
	engine, err := container.NewDockerClient()
	if err != nil {
		return err
	}
	templates := &controllers.DevMachineTemplateReconciler{Client: mgr.GetClient(), ContainerRuntime: engine}
	return templates.SetupWithManager(ctx, mgr, controller.Options{MaxConcurrentReconciles: workers, ReconciliationTimeout: time.Minute})
}
