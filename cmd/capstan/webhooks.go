package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	configv1 "github.com/openshift/api/config/v1"
	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	"github.com/capstan-capi/capstan/controllers/scrape"
	"github.com/capstan-capi/capstan/phases/crdschema/live"
	phasesscrape "github.com/capstan-capi/capstan/phases/scrape"
	"github.com/capstan-capi/capstan/transport"
	"github.com/capstan-capi/capstan/webhooks/compatibility"
)

// idleTimeout is how long a connection of an API server may wait for its next request: longer than API servers let it wait, so
// that it is they who close it, and no request meets a connection that is being closed.
const idleTimeout = 5 * time.Minute

type webhooksFlags struct {
	kubeconfig     string
	address        string
	certDir        string
	metricsAddress string
	metricsCertDir string
	healthAddress  string
	drain          time.Duration
	time           timekeeper
	served         house.Arrival // of requirements
}

func webhooksCommand() *cobra.Command {
	f := &webhooksFlags{}
	cmd := &cobra.Command{
		Use:   "webhooks",
		Short: "Serves the checker of CRD compatibility until it is told to stop",
		Long: `Answers API servers whether a CompatibilityRequirement is usable, whether a CustomResourceDefinition goes
on to meet all requirements, and whether an object could be read by whoever has one. It holds no Lease,
since every replica serves, and writes nothing. It takes requests once it has seen all requirements; a
cluster whose API has none yet is waited for.

When it is told to stop it says that it is not ready, goes on serving for --drain, and then ends.`,
		Example: `  capstan webhooks --kubeconfig ~/.kube/config --cert-dir ./certificates --metrics-address=0`,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig `file`; without it KUBECONFIG, then ~/.kube/config, then the pod's service account")
	flags.StringVar(&f.address, "address", ":9443", "`address` to serve webhooks on, with TLS as the cluster's profile says")
	flags.StringVar(&f.certDir, "cert-dir", "/var/run/secrets/webhooks-tls", "`folder` with tls.crt and tls.key to serve webhooks with, read again for every connection")
	flags.StringVar(&f.metricsAddress, "metrics-address", ":8443", "`address` to serve metrics on, with TLS; 0 for none")
	flags.StringVar(&f.metricsCertDir, "metrics-cert-dir", "", "`folder` with tls.crt and tls.key to serve metrics with; without it that of --cert-dir")
	flags.StringVar(&f.healthAddress, "health-address", ":9440", "`address` to serve /healthz and /readyz on; 0 for none")
	flags.DurationVar(&f.drain, "drain", 10*time.Second, "how long it goes on serving after it was told to stop, so that nobody is sent to it any more when it ends")
	f.time.addFlags(flags)
	return cmd
}

// kinds are those that are read. Of definitions only metadata is kept.
func (f *webhooksFlags) kinds(o options.Options) house.Kinds {
	return append(house.Kinds{
		{Version: requirementsv1alpha1.GroupVersion, Object: &requirementsv1alpha1.CompatibilityRequirement{}, List: &requirementsv1alpha1.CompatibilityRequirementList{}, Optional: true, Busy: true, Arrival: &f.served},
		{Version: apiextensionsv1.SchemeGroupVersion, Object: &apiextensionsv1.CustomResourceDefinition{}, List: &apiextensionsv1.CustomResourceDefinitionList{}, Uncached: true},
		{Version: configv1.GroupVersion, Object: &configv1.APIServer{}, List: &configv1.APIServerList{}},
	}, scrape.Part.Kinds(o)...)
}

func (f *webhooksFlags) run(ctx context.Context) error {
	collect(checkerGarbage)
	ctrl.SetLogger(zap.New(zap.UseDevMode(false)))
	clocks, err := f.time.clocks(ctx)
	if err != nil {
		return err
	}
	config, err := restConfig(f.kubeconfig, userAgent+"-webhooks")
	if err != nil {
		return err
	}
	config.Wrap(transport.Prompt)
	if f.metricsCertDir == "" {
		f.metricsCertDir = f.certDir
	}
	o := options.Options{MetricsAddress: f.metricsAddress, MetricsCertDir: f.metricsCertDir, House: &house.House{Clock: clocks.wall, Queue: clocks.steady}}
	mgr, err := f.manager(ctx, config, f.kinds(o))
	if err != nil {
		return err
	}
	if err := scrape.Part.Add(mgr, o); err != nil {
		return err
	}
	d := &drained{}
	server, err := f.server(mgr, d) //nolint:contextcheck // A handshake has a context of its own.
	if err != nil {
		return err
	}
	ready := func(*http.Request) error {
		if d.begun.Load() || !server.Listens() {
			return errors.New("no webhooks are served, or not for long")
		}
		return nil
	}
	if err := errors.Join(mgr.Add(server), mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("webhooks", ready)); err != nil {
		return err
	}
	return house.Together(d.after(ctx, f.drain), []func(context.Context) error{mgr.Start})
}

// manager has the caches filled from its start on.
func (f *webhooksFlags) manager(ctx context.Context, config *rest.Config, kinds house.Kinds) (manager.Manager, error) {
	caches := kinds.Cache(config)
	caches.ByObject[&requirementsv1alpha1.CompatibilityRequirement{}] = cache.ByObject{Transform: compatibility.Slim}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                  kinds.Scheme(),
		MapperProvider:          kinds.Mapper,
		Cache:                   caches,
		GracefulShutdownTimeout: ptr.To(house.EndTimeout),
		Metrics:                 metricsserver.Options{BindAddress: "0"}, // served by controllers/scrape
		HealthProbeBindAddress:  f.healthAddress,
	})
	if err != nil {
		return nil, fmt.Errorf("starting the manager: %w", err)
	}
	f.served.Confirm(func(ctx context.Context) error { return live.CheckUnserved(ctx, mgr.GetAPIReader()) })
	definitions := &metav1.PartialObjectMetadata{}
	definitions.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	if _, err := mgr.GetCache().GetInformer(ctx, definitions, cache.BlockUntilSynced(false)); err != nil {
		return nil, fmt.Errorf("watching CustomResourceDefinitions: %w", err)
	}
	return mgr, kinds.Fill(ctx, mgr.GetCache())
}

// server serves the webhooks.
func (f *webhooksFlags) server(mgr manager.Manager, d *drained) (*scrape.Server, error) {
	log := mgr.GetLogger().WithName("webhooks")
	webhooks, err := compatibility.New(mgr.GetCache(), mgr.GetAPIReader(), log)
	if err != nil {
		return nil, err
	}
	bounded := phasesscrape.Bounded(d.before(webhooks.Handler()), log)
	bounded.IdleTimeout = idleTimeout
	return &scrape.Server{What: "webhooks", Address: f.address, HTTP: bounded, TLS: scrape.TLS(mgr.GetClient(), f.certDir), Grace: house.EndTimeout}, nil
}

// drained is an end that is told before it comes.
type drained struct{ begun atomic.Bool }

// after is a context that ends so long after another one.
func (d *drained) after(ctx context.Context, long time.Duration) context.Context {
	later, end := context.WithCancelCause(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		d.begun.Store(true)
		time.AfterFunc(long, func() { end(context.Cause(ctx)) })
	})
	return later
}

// before has each connection end with the request that it serves, once the end is told.
func (d *drained) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.begun.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
