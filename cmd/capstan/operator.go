package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/capstan-capi/capstan/controllers"
	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	"github.com/capstan-capi/capstan/controllers/privatecapi"
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/transport"
)

// pullSecret is the cluster's own.
const pullSecret = "openshift-config/pull-secret"

// leaseName is the Lease of the replica that works.
const leaseName = "capstan-leader"

// userAgent is how the API server's audit log names the operator.
const userAgent = "capstan"

type operatorFlags struct {
	kubeconfig          string
	release             string
	operatorNamespace   string
	capiNamespace       string
	cacheDir            string
	providerImageDir    string
	podName             string
	insecureRegistries  []string
	insecureCredentials bool
	extraCAFile         string
	pullSecrets         []string
	leaderElect         bool
	metricsAddress      string
	metricsCertDir      string
	healthAddress       string
	concurrency         int
	webhooksURL         string
	webhooksCAFile      string
	openAfter           time.Duration
	privateCAPIImage    string
	legacyOperator      string
	bootImages          bootImageFlags
	time                timekeeper
}

func operatorCommand() *cobra.Command {
	f := &operatorFlags{podName: os.Getenv("POD_NAME")}
	cmd := &cobra.Command{
		Use:   "operator",
		Short: "Runs the operator until it is told to stop",
		Long: `Runs the operator: it reads the provider images listed in ConfigMap capi-installer-images,
lists a revision in the status of ClusterAPI cluster, applies it wave by wave, removes what
only older revisions had, and reports on ClusterOperator cluster-api.`,
		Example: `  capstan operator --kubeconfig ~/.kube/config --release-version 4.22.6 --leader-elect=false`,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig `file`; without it KUBECONFIG, then ~/.kube/config, then the pod's service account")
	flags.StringVar(&f.release, "release-version", os.Getenv("RELEASE_VERSION"), "`version` of the release that this operator belongs to (env RELEASE_VERSION)")
	flags.StringVar(&f.operatorNamespace, "operator-namespace", "openshift-cluster-api-operator", "`namespace` of the operator, its images ConfigMap, its Lease and its inventories")
	flags.StringVar(&f.capiNamespace, "capi-namespace", "openshift-cluster-api", "`namespace` that the providers are installed in")
	flags.StringVar(&f.cacheDir, "cache-dir", "/var/cache/capstan", "`folder` that keeps provider images by digest through restarts")
	flags.StringVar(&f.providerImageDir, "provider-image-dir", "", "read provider images below this `folder` where the operator's own Pod (env POD_NAME) mounts them as image volumes; what it does not mount is pulled")
	flags.StringArrayVar(&f.insecureRegistries, "insecure-registry", nil, "`host[:port]` of a registry to speak plain HTTP with if it does not speak TLS; loopback addresses need no flag (repeatable)")
	flags.BoolVar(&f.insecureCredentials, "insecure-credentials", false, "send credentials without TLS too, to the registries of --insecure-registry")
	flags.StringVar(&f.extraCAFile, "extra-ca-file", "", "PEM `file` of certificates to trust registries by, besides the system's and those of ConfigMap openshift-config/user-ca-bundle; it is read again for every pull")
	flags.StringArrayVar(&f.pullSecrets, "pull-secret", []string{pullSecret}, "`namespace/name` of a Secret of type kubernetes.io/dockerconfigjson with credentials for registries (repeatable; the most specific entry for a repository counts)")
	flags.BoolVar(&f.leaderElect, "leader-elect", true, "work only while holding the Lease")
	flags.StringVar(&f.metricsAddress, "metrics-bind-address", ":8443", "`address` to serve metrics on, with TLS; 0 for none")
	flags.StringVar(&f.metricsCertDir, "metrics-cert-dir", "/var/run/secrets/metrics-tls", "`folder` with tls.crt and tls.key to serve metrics with, read again for every connection")
	flags.StringVar(&f.healthAddress, "health-probe-bind-address", ":8081", "`address` to serve /healthz and /readyz on; 0 for none")
	flags.IntVar(&f.concurrency, "apply-concurrency", 8, "how many objects of a wave are applied at the same time")
	flags.StringVar(&f.webhooksURL, "webhooks-url", "", "`URL` such as https://127.0.0.1:9443 that API servers find the checker at; without it, they find it at its Service")
	flags.StringVar(&f.webhooksCAFile, "webhooks-ca-file", "", "PEM `file` of certificates that API servers trust the checker by; without it, the service CA operator writes them")
	flags.StringVar(&f.privateCAPIImage, "private-capi-image", "", "move HostedClusters to private Cluster API types, with the image `host/path@sha256:...` for the proxy beside their components; empty to move none")
	flags.StringVar(&f.legacyOperator, "legacy-operator", "", "retire `namespace/name`, the Deployment of HyperShift's old operator, once every HostedCluster has private Cluster API types; empty to leave it alone")
	flags.DurationVar(&f.openAfter, "open-after", 15*time.Minute, "refuse nothing any more for CompatibilityRequirements once the checker has been away for this long; 0 to go on refusing")
	f.bootImages.addFlags(flags)
	f.time.addFlags(flags)
	return cmd
}

// releaseForm is what the API allows at the start of a revision's name.
var releaseForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+_-]*$`)

func (f *operatorFlags) validate() error {
	switch {
	case f.release == "":
		return errors.New("--release-version (or env RELEASE_VERSION) is needed: it begins the names of revisions and is reported as the operator's version")
	case !releaseForm.MatchString(f.release):
		return fmt.Errorf("--release-version %q is not a version such as 4.22.6", f.release)
	case slices.ContainsFunc(f.pullSecrets, notAKey):
		return fmt.Errorf("--pull-secret %s is not of the form namespace/name", f.pullSecrets[slices.IndexFunc(f.pullSecrets, notAKey)])
	case f.providerImageDir != "" && f.podName == "":
		return errors.New("--provider-image-dir needs the name of the operator's own Pod in env POD_NAME: the Pod says which image is mounted where")
	case f.webhooksURL != "" && !strings.HasPrefix(f.webhooksURL, "https://"):
		return fmt.Errorf("--webhooks-url %q does not begin with https://", f.webhooksURL)
	case f.openAfter < 0:
		return fmt.Errorf("--open-after %s is less than 0", f.openAfter)
	case f.legacyOperator != "" && notAKey(f.legacyOperator):
		return fmt.Errorf("--legacy-operator %q is not of the form namespace/name", f.legacyOperator)
	case f.concurrency < 1:
		return fmt.Errorf("--apply-concurrency %d is less than 1", f.concurrency)
	}
	return f.bootImages.validate()
}

// webhooksCA are the certificates that the API server is to trust the checker by; none where the cluster sees to that.
func (f *operatorFlags) webhooksCA() ([]byte, error) {
	if f.webhooksCAFile == "" {
		return nil, nil
	}
	certificates, err := os.ReadFile(f.webhooksCAFile)
	if err != nil {
		return nil, fmt.Errorf("reading --webhooks-ca-file: %w", err)
	}
	return certificates, nil
}

// inUseTimeout bounds how long the operator asks at its start whether private types are in use.
const inUseTimeout = 15 * time.Second

// privateCAPI is what the move to private types of Cluster API is given. Without the flag for the image it is asked whether they are
// in use: then they cannot be switched off, and the operator tells so where HostedClusters stand. If nobody answers, as little is
// done as without them, until the next start.
func (f *operatorFlags) privateCAPI(ctx context.Context, config *rest.Config) options.PrivateCAPI {
	given := options.PrivateCAPI{Image: f.privateCAPIImage}
	if f.legacyOperator != "" {
		given.LegacyOperator = keysOf([]string{f.legacyOperator})[0]
	}
	if given.Image != "" {
		// The operator does all else, and a move that is under way goes on.
		if _, err := images.ParseRef(given.Image); err != nil {
			ctrl.Log.Error(err, "No HostedCluster is moved to private types of Cluster API with what flag --private-capi-image names")
		}
		return given
	}
	ctx, end := context.WithTimeout(ctx, inUseTimeout)
	defer end()
	var err error
	if given.InUse, err = privatecapi.InUse(ctx, config, f.operatorNamespace); err != nil {
		ctrl.Log.Error(err, "It is not known whether private types of Cluster API are in use")
	}
	if given.InUse {
		ctrl.Log.Info("Private types of Cluster API are in use and are not switched off: give the operator flag --private-capi-image again")
	}
	return given
}

func (f *operatorFlags) run(ctx context.Context) error {
	if err := f.validate(); err != nil {
		return err
	}
	collect(operatorGarbage)
	ctrl.SetLogger(zap.New(zap.UseDevMode(false)))
	clocks, err := f.time.clocks(ctx)
	if err != nil {
		return err
	}
	config, err := restConfig(f.kubeconfig, userAgent)
	if err != nil {
		return err
	}
	webhooksCA, err := f.webhooksCA()
	if err != nil {
		return err
	}
	var warmUps []func(context.Context) error
	opts := options.Options{
		REST:    rest.CopyConfig(config),
		Release: f.release, OperatorNamespace: f.operatorNamespace, CAPINamespace: f.capiNamespace,
		CacheDir: f.cacheDir, ProviderImageDir: f.providerImageDir, PodName: f.podName, InsecureRegistries: f.insecureRegistries, InsecureCredentials: f.insecureCredentials,
		ExtraCAFile: f.extraCAFile, PullSecrets: keysOf(f.pullSecrets), Concurrency: f.concurrency,
		WebhooksURL: strings.TrimSuffix(f.webhooksURL, "/"), WebhooksCA: webhooksCA, OpenAfter: f.openAfter, PrivateCAPI: f.privateCAPI(ctx, config),
		MetricsAddress: f.metricsAddress, MetricsCertDir: f.metricsCertDir, BootImages: f.bootImages.options(),
		WarmUp: func(run func(context.Context) error) { warmUps = append(warmUps, run) },
	}
	config.Wrap(transport.Prompt)
	kinds := controllers.Kinds(opts)
	lock, err := f.lease(config)
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                              kinds.Scheme(),
		MapperProvider:                      kinds.Mapper,
		Cache:                               kinds.Cache(config),
		Controller:                          house.Warm(),
		LeaderElection:                      f.leaderElect,
		LeaderElectionResourceLockInterface: lock,
		LeaderElectionReleaseOnCancel:       true,
		GracefulShutdownTimeout:             ptr.To(house.EndTimeout),
		Metrics:                             metricsserver.Options{BindAddress: "0"}, // served by controllers/scrape
		HealthProbeBindAddress:              f.healthAddress,
	})
	if err != nil {
		return fmt.Errorf("starting the manager: %w", err)
	}
	if err := errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("ping", healthz.Ping)); err != nil {
		return err
	}
	if err := kinds.Fill(ctx, mgr.GetCache()); err != nil {
		return err
	}
	if opts.House, err = house.New(mgr, f.operatorNamespace, clocks.wall, clocks.steady); err != nil {
		return err
	}
	if err := errors.Join(controllers.Add(mgr, opts), mgr.Add(startPages{})); err != nil {
		return err
	}
	return house.Together(ctx, append(warmUps, mgr.Start))
}

// lease is the lock of the replica that works, nil without leader election.
func (f *operatorFlags) lease(config *rest.Config) (resourcelock.Interface, error) {
	if !f.leaderElect {
		return nil, nil
	}
	return house.Lease(config, types.NamespacedName{Namespace: f.operatorNamespace, Name: leaseName})
}

func keysOf(texts []string) []types.NamespacedName {
	var keys []types.NamespacedName
	for _, text := range texts {
		namespace, name, _ := strings.Cut(text, "/")
		keys = append(keys, types.NamespacedName{Namespace: namespace, Name: name})
	}
	return keys
}

func notAKey(text string) bool {
	namespace, name, _ := strings.Cut(text, "/")
	return namespace == "" || name == "" || strings.Contains(name, "/")
}

// restConfig finds the cluster for what runs in it.
func restConfig(kubeconfig, agent string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %w", err)
	}
	config.UserAgent = agent
	// The API server's own priority and fairness bounds the process better than a fixed rate would.
	config.QPS = -1
	config.Wrap(transport.Bound)
	return config, nil
}
