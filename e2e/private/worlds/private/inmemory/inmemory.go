// Package inmemory is what programs share that run the dev provider of Cluster API with its in-memory backend alone: the manager, the
// memory in which machines and the fake API servers of their clusters are, and the reconcilers, as the dev provider's own program
// makes them. It adds nothing to what they do, and starts nothing by itself.
package inmemory

import (
	"context"
	"errors"
	"fmt"
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
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/controllers/remote"
	"sigs.k8s.io/cluster-api/test/infrastructure/container"
	infrav1beta1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta1"
	infrav1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta2"
	"sigs.k8s.io/cluster-api/test/infrastructure/docker/controllers"
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

// workers is how many objects of a kind are reconciled at a time.
const workers = 20

// Options of a program.
type Options struct {
	// Name is told in the user agent.
	Name string
	// Health and Metrics are addresses; "0" is none.
	Health, Metrics string
	// Webhooks is the server of the provider's webhooks; nil for none.
	Webhooks webhook.Server
}

// NewManager has what the reconcilers read in its caches, and reads Secrets and ConfigMaps live.
func NewManager(o Options) (ctrl.Manager, error) {
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
	cfg.QPS, cfg.Burst, cfg.UserAgent = 100, 200, remote.DefaultClusterAPIUserAgent(o.Name)
	return ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                 scheme,
		HealthProbeBindAddress: o.Health,
		Metrics:                metricsserver.Options{BindAddress: o.Metrics},
		WebhookServer:          o.Webhooks,
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

// Memory is where machines and the API servers of their clusters are. It ends with the process.
type Memory struct {
	// Objects are those that the API servers serve, by cluster.
	Objects inmemoryruntime.Manager
	// Servers are the listeners of the API servers, by cluster.
	Servers *inmemoryserver.WorkloadClustersMux
}

// NewMemory is empty. Its servers tell that they are at the host, and take the ports one after the other.
func NewMemory(ctx context.Context, host string, ports inmemoryserver.CustomPorts) (*Memory, error) {
	kinds, err := schemeOf(cloudv1.AddToScheme, corev1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme, storagev1.AddToScheme,
		apiextensionsv1.AddToScheme, policyv1.AddToScheme)
	if err != nil {
		return nil, err
	}
	m := &Memory{Objects: inmemoryruntime.NewManager(kinds)}
	if err := m.Objects.Start(ctx); err != nil {
		return nil, fmt.Errorf("starting the memory: %w", err)
	}
	m.Servers, err = inmemoryserver.NewWorkloadClustersMux(m.Objects, host, ports)
	return m, err
}

// AddReconcilers adds those of clusters and machines. Clusters are reconciled by a client of their own, the manager's for most.
func (m *Memory) AddReconcilers(ctx context.Context, mgr ctrl.Manager, name string, clusters client.Client) error {
	guests, err := clusterCache(ctx, mgr, name)
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
		Client: mgr.GetClient(), ContainerRuntime: engine, ClusterCache: guests, InMemoryManager: m.Objects, APIServerMux: m.Servers,
	}
	if err := machines.SetupWithManager(ctx, mgr, options); err != nil {
		return err
	}
	infrastructure := &controllers.DevClusterReconciler{
		Client: clusters, ContainerRuntime: engine, InMemoryManager: m.Objects, APIServerMux: m.Servers,
	}
	return infrastructure.SetupWithManager(ctx, mgr, options)
}

func clusterCache(ctx context.Context, mgr ctrl.Manager, name string) (clustercache.ClusterCache, error) {
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
