// Command otherports is the dev provider of Cluster API with the in-memory
// backend alone, on ports that its own program leaves free: the two can serve
// clusters on one machine, which one program twice cannot. It does nothing that
// the dev provider does not do; only its main package is another one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/controllers/remote"
	"sigs.k8s.io/cluster-api/test/infrastructure/container"
	infrav1beta1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta1"
	infrav1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta2"
	"sigs.k8s.io/cluster-api/test/infrastructure/docker/controllers"
	infrawebhooks "sigs.k8s.io/cluster-api/test/infrastructure/docker/webhooks"
	cloudv1 "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/cloud/api/v1alpha1"
	inmemoryruntime "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	inmemoryserver "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/server"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// ports are above those of the dev provider's own program, 19000 and 20000 to 30000,
// and below those that Linux gives to whoever asks for any.
var ports = inmemoryserver.CustomPorts{MinPort: 30001, MaxPort: 32000, DebugPort: 19001}

const name = "dev-provider-on-other-ports"

// workers is how many objects of a kind are reconciled at a time.
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
	mgr, err := newManager(health, metrics, server)
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

func newManager(health, metrics string, server webhook.Server) (ctrl.Manager, error) {
	scheme, err := schemeOf(clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, infrav1beta1.AddToScheme, infrav1.AddToScheme, clusterv1.AddToScheme)
	if err != nil {
		return nil, err
	}
	named, err := labels.NewRequirement(clusterv1.ClusterNameLabel, selection.Exists, nil)
	if err != nil {
		return nil, err
	}
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	cfg.QPS, cfg.Burst, cfg.UserAgent = 100, 200, remote.DefaultClusterAPIUserAgent(name)
	return ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                 scheme,
		HealthProbeBindAddress: health,
		Metrics:                metricsserver.Options{BindAddress: metrics},
		WebhookServer:          server,
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
			&corev1.Secret{}: {Label: labels.NewSelector().Add(*named)},
		}},
		Client: client.Options{Cache: &client.CacheOptions{
			DisableFor: []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}}, Unstructured: true,
		}},
	})
}

func schemeOf(add ...func(*runtime.Scheme) error) (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	var problems []error
	for _, kinds := range add {
		problems = append(problems, kinds(scheme))
	}
	return scheme, errors.Join(problems...)
}

func addReconcilers(ctx context.Context, mgr ctrl.Manager) error {
	clusters, err := clusterCache(ctx, mgr)
	if err != nil {
		return err
	}
	kinds, err := schemeOf(cloudv1.AddToScheme, corev1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme, storagev1.AddToScheme,
		apiextensionsv1.AddToScheme, policyv1.AddToScheme)
	if err != nil {
		return err
	}
	memory := inmemoryruntime.NewManager(kinds)
	if err := memory.Start(ctx); err != nil {
		return err
	}
	mux, err := inmemoryserver.NewWorkloadClustersMux(memory, os.Getenv("POD_IP"), ports)
	if err != nil {
		return err
	}
	// The reconcilers want one; nothing of it is used by the in-memory backend.
	engine, err := container.NewDockerClient()
	if err != nil {
		return err
	}
	options := controller.Options{MaxConcurrentReconciles: workers, ReconciliationTimeout: time.Minute}
	machines := &controllers.DevMachineReconciler{
		Client: mgr.GetClient(), ContainerRuntime: engine, ClusterCache: clusters, InMemoryManager: memory, APIServerMux: mux,
	}
	if err := machines.SetupWithManager(ctx, mgr, options); err != nil {
		return err
	}
	infrastructure := &controllers.DevClusterReconciler{
		Client: mgr.GetClient(), ContainerRuntime: engine, InMemoryManager: memory, APIServerMux: mux,
	}
	if err := infrastructure.SetupWithManager(ctx, mgr, options); err != nil {
		return err
	}
	templates := &controllers.DevMachineTemplateReconciler{Client: mgr.GetClient(), ContainerRuntime: engine}
	return templates.SetupWithManager(ctx, mgr, options)
}

func clusterCache(ctx context.Context, mgr ctrl.Manager) (clustercache.ClusterCache, error) {
	secrets, err := client.New(mgr.GetConfig(), client.Options{
		HTTPClient: mgr.GetHTTPClient(), Cache: &client.CacheOptions{Reader: mgr.GetCache()},
	})
	if err != nil {
		return nil, err
	}
	return clustercache.SetupWithManager(ctx, mgr, clustercache.Options{
		SecretClient: secrets,
		Client: clustercache.ClientOptions{
			QPS: 20, Burst: 30, UserAgent: remote.DefaultClusterAPIUserAgent(name),
			Cache: clustercache.ClientCacheOptions{DisableFor: []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}}},
		},
	}, controller.Options{MaxConcurrentReconciles: workers})
}
