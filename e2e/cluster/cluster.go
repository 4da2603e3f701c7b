// Package cluster runs a real Kubernetes control plane for tests and
// demonstrations, with no container engine: etcd, kube-apiserver with RBAC and
// an audit log, kube-controller-manager, kube-scheduler, kwok playing one
// node whose pods run at once, and OpenShift's aggregated API server, which
// serves Namespaces and RBAC once more as project.openshift.io and
// authorization.openshift.io. Each cluster has its own folder, port and
// certificates, so that several can run side by side. It runs on Linux only,
// builds nothing (see e2e/controlplane) and runs no container: a pod here is
// Ready because kwok says so.
package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	controlPlaneBinary = "controlplane"
	kwokBinary         = "kwok"
)

// Options of a new cluster.
type Options struct {
	// Binaries is the folder with controlplane and kwok, as make controlplane
	// builds them.
	Binaries string
	// Dir is the folder to work in; it is made when missing and never removed.
	// Empty means a temporary folder that Stop removes.
	Dir string
	// Keep leaves the temporary folder behind at Stop, logs and data included.
	Keep bool
	// CRDs are installed before Start returns.
	CRDs []*apiextensionsv1.CustomResourceDefinition
	// ServiceCA plays OpenShift's service CA: CA bundles are injected and serving
	// certificates made where annotations ask for them, by ServiceCAUserAgent.
	ServiceCA bool
	// Alone leaves out whatever else writes: nothing runs but etcd and kube-apiserver, as in envtest, and there is no node.
	Alone bool
	// Port is where the API is served; zero is any that is free.
	Port int
	// Identity is who the cluster is, where somebody else has said so; nil has it make its own.
	Identity *Identity
	// Patience bounds the start, and any wait after it; a minute without it.
	Patience time.Duration
}

// Pair is a certificate and its key, both as PEM.
type Pair struct{ Certificate, Key []byte }

// Identity is what makes a cluster the one that others know.
type Identity struct {
	// Authority certifies clients, and is trusted by them; FrontProxy certifies kube-apiserver to the servers behind it.
	Authority, FrontProxy Pair
	// Serving is what kube-apiserver is known by, Accounts the key that tokens of ServiceAccounts are signed with.
	Serving  Pair
	Accounts []byte
}

// Cluster is a running control plane. Its methods may be called from several
// goroutines, except that nothing may follow Stop.
type Cluster struct {
	dir       string
	temporary bool
	binaries  string
	authority *authority
	// frontProxy certifies kube-apiserver to the servers that it passes requests on to.
	frontProxy *authority
	port       port
	// managerPort is where kube-controller-manager serves its metrics, and manager asks for them.
	managerPort port
	manager     *http.Client
	spawner     *spawner
	patience    time.Duration
	admin       *rest.Config
	client      *kubernetes.Clientset
	dynamic     *dynamic.DynamicClient

	mu        sync.Mutex
	running   map[Component]*process
	reserved  []port // beside port and managerPort
	stopped   bool
	service   *serviceCA    // nil unless asked for
	openshift *openshiftAPI // nil until it is started
}

// Start returns a cluster that has proved itself: a Deployment became Available
// on its node, if it has one. The context bounds the start only, as the options
// do; the cluster lives until Stop, or until this process ends in whatever way.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	options.Patience = cmp.Or(options.Patience, time.Minute)
	ctx, cancel := context.WithTimeout(ctx, options.Patience)
	defer cancel()
	c, err := prepare(options)
	if err != nil {
		return nil, fmt.Errorf("preparing a cluster: %w", err)
	}
	if err := c.boot(ctx, options); err != nil {
		err = c.explain(err)
		return nil, errors.Join(fmt.Errorf("starting a cluster: %w", err), c.Stop())
	}
	return c, nil
}

// prepare makes everything but processes: a failure leaves nothing to stop.
func prepare(options Options) (_ *Cluster, err error) {
	c := &Cluster{patience: options.Patience, running: map[Component]*process{}}
	if c.binaries, err = findBinaries(options.Binaries); err != nil {
		return nil, err
	}
	if err := c.identify(options.Identity); err != nil {
		return nil, err
	}
	if c.dir, c.temporary, err = makeDir(options); err != nil {
		return nil, err
	}
	if c.port, err = reservePort(options.Port); err != nil {
		return nil, errors.Join(err, c.removeDir())
	}
	if c.managerPort, err = reservePort(0); err != nil {
		c.port.release()
		return nil, errors.Join(err, c.removeDir())
	}
	c.spawner = newSpawner()
	if err := c.equip(options.Identity); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// identify takes the authorities that are given, or makes them.
func (c *Cluster) identify(known *Identity) (err error) {
	if known == nil {
		if c.authority, err = newAuthority("capstan-e2e"); err != nil {
			return err
		}
		c.frontProxy, err = newAuthority("front-proxy")
		return err
	}
	if c.authority, err = givenAuthority(known.Authority); err != nil {
		return err
	}
	c.frontProxy, err = givenAuthority(known.FrontProxy)
	return err
}

// equip makes the credentials and the clients that use them.
func (c *Cluster) equip(known *Identity) (err error) {
	if err := c.writeCredentials(known); err != nil {
		return err
	}
	if c.admin, err = c.ConfigFor(adminUser, administrators); err != nil {
		return err
	}
	if c.client, err = kubernetes.NewForConfig(c.admin); err != nil {
		return fmt.Errorf("building a client: %w", err)
	}
	if c.dynamic, err = dynamic.NewForConfig(c.admin); err != nil {
		return fmt.Errorf("building a dynamic client: %w", err)
	}
	if c.manager, err = c.managerClient(); err != nil {
		return fmt.Errorf("building a client of kube-controller-manager: %w", err)
	}
	return nil
}

func findBinaries(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("resolving the folder of binaries: %w", err)
	}
	for _, name := range []string{controlPlaneBinary, kwokBinary} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return "", fmt.Errorf("finding the control plane's binaries: %w: run make controlplane", err)
		}
	}
	return dir, nil
}

func makeDir(options Options) (dir string, temporary bool, err error) {
	if options.Dir == "" {
		dir, err := os.MkdirTemp("", "capstan-cluster-")
		if err != nil {
			return "", false, fmt.Errorf("making a temporary folder: %w", err)
		}
		return dir, !options.Keep, nil
	}
	dir, err = filepath.Abs(options.Dir)
	if err != nil {
		return "", false, fmt.Errorf("resolving the cluster's folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", false, fmt.Errorf("making the cluster's folder: %w", err)
	}
	return dir, false, nil
}

// Stop ends every process in the order that lets each one end cleanly, and
// removes a temporary folder. Its error names what had to be killed; nothing is
// left running either way. A second call does nothing.
func (c *Cluster) Stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return nil
	}
	c.stopped = true
	var problems []error
	if c.service != nil {
		c.service.stop()
	}
	if c.openshift != nil {
		problems = append(problems, c.openshift.stop())
	}
	for _, component := range stopOrder {
		problems = append(problems, c.end(component))
	}
	c.spawner.close()
	for _, p := range append(c.reserved, c.port, c.managerPort) {
		p.release()
	}
	closeIdleConnections(c.admin)
	if c.manager != nil {
		c.manager.CloseIdleConnections()
	}
	return errors.Join(append(problems, c.removeDir())...)
}

func (c *Cluster) removeDir() error {
	if !c.temporary {
		return nil
	}
	if err := os.RemoveAll(c.dir); err != nil {
		return fmt.Errorf("removing the cluster's folder: %w", err)
	}
	return nil
}

// Dir is the cluster's folder: logs, audit log, kubeconfigs and etcd's data.
func (c *Cluster) Dir() string { return c.dir }

// AuditLog is the path of the audit log, one JSON object per line for every
// request; see Requests.
func (c *Cluster) AuditLog() string { return filepath.Join(c.dir, auditLogFile) }

// Logs is the path of what a component has written since the cluster's start,
// restarts included.
func (c *Cluster) Logs(component Component) string {
	return filepath.Join(c.dir, string(component)+".log")
}
