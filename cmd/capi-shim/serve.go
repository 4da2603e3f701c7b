package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/capstan-capi/capstan/cmd/capi-shim/linked"
	"github.com/capstan-capi/capstan/phases/conversion"
	"github.com/capstan-capi/capstan/phases/privatecrds"
	"github.com/capstan-capi/capstan/transport"
)

// endTimeout is how long what has begun may take when the process ends.
const endTimeout = 10 * time.Second

type flags struct {
	kubeconfig     string
	address        string
	certDir        string
	routes         string
	metricsAddress string
	healthAddress  string
	drain          time.Duration
}

func (f *flags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig `file`; without it KUBECONFIG, then ~/.kube/config, then the pod's service account")
	flags.StringVar(&f.address, "address", ":9443", "`address` to answer API servers on, with TLS")
	flags.StringVar(&f.certDir, "cert-dir", "/var/run/secrets/capi-shim-tls", "`folder` with tls.crt and tls.key to serve with, read again when they change")
	flags.StringVar(&f.routes, "routes", "", "`file` with the routes to providers' webhooks; without it none can be asked")
	flags.StringVar(&f.metricsAddress, "metrics-address", ":8443", "`address` to serve metrics on, with TLS; 0 for none")
	flags.StringVar(&f.healthAddress, "health-address", ":9440", "`address` to serve /healthz and /readyz on; 0 for none")
	flags.DurationVar(&f.drain, "drain", 10*time.Second, "how long it goes on serving after it was told to stop, so that nobody is sent to it any more when it ends")
}

func (f *flags) run(ctx context.Context) error {
	ctrl.SetLogger(zap.New(zap.UseDevMode(false)))
	config, err := f.config()
	if err != nil {
		return err
	}
	config.Wrap(transport.Prompt)
	mgr, err := f.manager(config)
	if err != nil {
		return err
	}
	seen, err := mgr.GetCache().GetInformer(ctx, definition(), cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching the metadata of CustomResourceDefinitions: %w", err)
	}
	converter, err := linked.New(linked.Contracts{Definitions: mgr.GetCache()}.VersionOf)
	if err != nil {
		return err
	}
	log := mgr.GetLogger().WithName("shim")
	routes, err := conversion.ReadRoutes(f.routes, log)
	if err != nil {
		return err
	}
	shim, err := conversion.New(converter.Convert, routes, clock.RealClock{}, log)
	if err != nil {
		return err
	}
	server, handler := mgr.GetWebhookServer(), shim.Handler()
	for _, path := range []string{privatecrds.ConvertPath, privatecrds.ConvertPath + "/", privatecrds.AdmitPath + "/"} {
		server.Register(path, handler)
	}
	var ends atomic.Bool
	ready := func(r *http.Request) error {
		if ends.Load() || !seen.HasSynced() {
			return errors.New("the shim has not seen all definitions, or serves not for long")
		}
		return server.StartedChecker()(r)
	}
	if err := errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("shim", ready)); err != nil {
		return err
	}
	return mgr.Start(f.drained(ctx, &ends))
}

// drained is a context that ends so long after another one, and says in between that it will.
func (f *flags) drained(ctx context.Context, ends *atomic.Bool) context.Context {
	later, end := context.WithCancelCause(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		ends.Store(true)
		time.AfterFunc(f.drain, func() { end(context.Cause(ctx)) })
	})
	return later
}

func (f *flags) config() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %w", err)
	}
	config.UserAgent = "capi-shim"
	return config, nil
}

func definition() *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	return object
}

// manager keeps the metadata of definitions, and of that names and labels.
func (f *flags) manager(config *rest.Config) (manager.Manager, error) {
	host, text, err := net.SplitHostPort(f.address)
	if err != nil {
		return nil, fmt.Errorf("--address: %w", err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("--address %s: the port is no number", f.address)
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Cache:                   cache.Options{DefaultTransform: slim},
		GracefulShutdownTimeout: ptr.To(endTimeout),
		Metrics:                 metricsserver.Options{BindAddress: f.metricsAddress, SecureServing: true, CertDir: f.certDir},
		HealthProbeBindAddress:  f.healthAddress,
		WebhookServer:           webhook.NewServer(webhook.Options{Host: host, Port: port, CertDir: f.certDir}),
	})
	if err != nil {
		return nil, fmt.Errorf("starting the manager: %w", err)
	}
	return mgr, nil
}

func slim(object any) (any, error) {
	if metadata, is := object.(*metav1.PartialObjectMetadata); is {
		metadata.Annotations, metadata.ManagedFields, metadata.OwnerReferences, metadata.Finalizers = nil, nil, nil, nil
	}
	return object, nil
}
