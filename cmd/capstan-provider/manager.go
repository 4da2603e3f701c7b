package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"sync"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/provider"
	"github.com/capstan-capi/capstan/controllers/provider/options"
	"github.com/capstan-capi/capstan/phases/newest"
	"github.com/capstan-capi/capstan/transport"
)

// maxKeysAhead bounds what is held in memory: some ten kilobytes for a cluster.
const maxKeysAhead = 1000

// leaseName is the Lease of the replica that works.
const leaseName = "capstan-provider-leader"

type managerFlags struct {
	kubeconfig         string
	ownNamespace       string
	namespace          string
	watchFilter        string
	image              string
	leaderElect        bool
	metricsAddress     string
	metricsCertDir     string
	healthAddress      string
	concurrency        int
	keysAhead          int
	insecureRegistries []string
	extraCAFile        string
	time               timekeeper
}

func managerCommand() *cobra.Command {
	f := &managerFlags{}
	cmd := &cobra.Command{
		Use:   "manager",
		Short: "Runs the control plane provider and the bootstrap provider until it is told to stop",
		Long: `Runs the provider of OpenShift clusters: it has clusters made out of OpenShiftControlPlanes, and gives
machines what their OpenShiftConfigs say that they are started with.

Exit codes: 0 if it was told to stop, 1 if it could not be started, or does not hold its Lease any more.`,
		Example: `  capstan-provider manager --kubeconfig ~/.kube/config --leader-elect=false`,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", kubeconfigUsage)
	flags.StringVar(&f.ownNamespace, "own-namespace", os.Getenv("POD_NAMESPACE"), "`namespace` of this process, its Lease and its recorder (env POD_NAMESPACE)")
	flags.StringVar(&f.namespace, "namespace", "", "look at this `namespace` only; empty for all")
	flags.StringVar(&f.watchFilter, "watch-filter", "", "look at those objects only whose label cluster.x-k8s.io/watch-filter has this `value`; empty for all")
	flags.StringVar(&f.image, "image", os.Getenv("IMAGE"), "`reference` of the image of this program, for what runs beside the installer (env IMAGE); empty for no engine InstallerJob")
	flags.BoolVar(&f.leaderElect, "leader-elect", true, "work only while holding the Lease")
	flags.StringVar(&f.metricsAddress, "metrics-bind-address", ":8443", "`address` to serve metrics on, with TLS; 0 for none")
	flags.StringVar(&f.metricsCertDir, "metrics-cert-dir", "/var/run/secrets/metrics-tls", "`folder` with tls.crt and tls.key to serve metrics with, read again for every connection")
	flags.StringVar(&f.healthAddress, "health-probe-bind-address", ":9440", "`address` to serve /healthz and /readyz on; 0 for none")
	flags.IntVar(&f.concurrency, "concurrency", 10, "how many objects of a kind are worked on at the same time")
	flags.IntVar(&f.keysAhead, "keys-ahead", 50, fmt.Sprintf("for how many clusters the RSA keys of authorities are made ahead and held in memory, once no cluster has needed any for a minute; 0 for none, %d at most", maxKeysAhead))
	flags.StringArrayVar(&f.insecureRegistries, "insecure-registry", nil, "`host[:port]` of a registry to speak plain HTTP with if it does not speak TLS; loopback addresses need no flag (repeatable)")
	flags.StringVar(&f.extraCAFile, "extra-ca-file", "", "PEM `file` of certificates to trust registries by, besides the system's and those of install-configs")
	f.time.addFlags(flags)
	return cmd
}

// imageForm is what an image reference is made of; more the API server says of a Job.
var imageForm = regexp.MustCompile(`^[A-Za-z0-9._:@/\[\]-]*$`)

func (f *managerFlags) validate() error {
	switch {
	case f.ownNamespace == "":
		return errors.New("--own-namespace (or env POD_NAMESPACE) is needed: the Lease is there")
	case f.concurrency < 1:
		return fmt.Errorf("--concurrency %d is less than 1", f.concurrency)
	case f.keysAhead < 0 || f.keysAhead > maxKeysAhead:
		return fmt.Errorf("--keys-ahead %d is not between 0 and %d", f.keysAhead, maxKeysAhead)
	case !imageForm.MatchString(f.image):
		return fmt.Errorf("--image %q is no reference of an image", f.image)
	case len(validation.IsValidLabelValue(f.watchFilter)) > 0:
		return fmt.Errorf("--watch-filter %q is no value of a label", f.watchFilter)
	}
	return nil
}

func (f *managerFlags) run(ctx context.Context) error {
	if err := f.validate(); err != nil {
		return err
	}
	ctrl.SetLogger(zap.New(zap.UseDevMode(false)))
	config, err := restConfig(f.kubeconfig)
	if err != nil {
		return err
	}
	config.Wrap(transport.Prompt)
	mgr, err := f.manager(ctx, config)
	if err != nil {
		return err
	}
	own := &ownWrites{}
	o := options.Options{
		Live: mgr.GetAPIReader(), Took: own.add, Side: f.concurrency, Image: f.image, KeysAhead: f.keysAhead,
		Client:             &newest.Client{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Of: isOurs, Sees: provider.Sees(f.watchFilter), Took: own.took},
		InsecureRegistries: f.insecureRegistries, ExtraCAFile: f.extraCAFile,
	}
	wall, steady, err := f.time.clocks(ctx)
	if err != nil {
		return err
	}
	if o.House, err = house.New(mgr, f.ownNamespace, wall, steady); err != nil {
		return err
	}
	if err := errors.Join(provider.Add(mgr, o), f.serveMetrics(mgr, o.House)); err != nil { //nolint:contextcheck // a connection has a context of its own
		return err
	}
	return house.Together(ctx, []func(context.Context) error{mgr.Start})
}

// manager makes the manager, whose caches hold what is read and nothing else.
func (f *managerFlags) manager(ctx context.Context, config *rest.Config) (ctrl.Manager, error) {
	var lock resourcelock.Interface
	if f.leaderElect {
		var err error
		if lock, err = house.Lease(config, types.NamespacedName{Namespace: f.ownNamespace, Name: leaseName}); err != nil {
			return nil, err
		}
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                              provider.Scheme(),
		Cache:                               provider.Cache(config, f.namespace, f.watchFilter),
		Controller:                          house.Warm(),
		LeaderElection:                      f.leaderElect,
		LeaderElectionResourceLockInterface: lock,
		LeaderElectionReleaseOnCancel:       true,
		GracefulShutdownTimeout:             ptr.To(house.EndTimeout),
		Metrics:                             metricsserver.Options{BindAddress: "0"}, // served by serveMetrics
		HealthProbeBindAddress:              f.healthAddress,
	})
	if err != nil {
		return nil, fmt.Errorf("starting the manager: %w", err)
	}
	return mgr, errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("ping", healthz.Ping), provider.Kinds().Fill(ctx, mgr.GetCache()))
}

// isOurs says that an object is of our own kinds, which this process writes again and again.
func isOurs(object client.Object) bool {
	switch object.(type) {
	case *v1alpha1.OpenShiftControlPlane, *v1alpha1.OpenShiftConfig:
		return true
	}
	return false
}

// ownWrites tells several of the writes of this process.
type ownWrites struct {
	mu  sync.Mutex
	all []func(client.Object, string)
}

func (o *ownWrites) add(one func(client.Object, string)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, one)
}

func (o *ownWrites) took(object client.Object, before string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range o.all {
		one(object, before)
	}
}
