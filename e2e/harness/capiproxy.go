package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

// CAPIProxy is a child process that runs capstan capi-proxy. It dies with the
// cluster, and with this process.
type CAPIProxy struct {
	*cluster.Process
	// URL is where it serves the API, with its token as the password, Health where it tells of itself.
	URL, Health string
	// Kubeconfig is the file that it has written for a component.
	Kubeconfig string
	// Log is the file with everything it wrote.
	Log string
}

// StartCAPIProxy starts the proxy of the folder of binaries with the access of a
// kubeconfig, and returns when it is ready. It finds ports of its own, and writes a
// kubeconfig beside its log.
func StartCAPIProxy(ctx context.Context, c *cluster.Cluster, bin, kubeconfig, log string) (*CAPIProxy, error) {
	binary, err := filepath.Abs(filepath.Join(bin, "capstan"))
	if err != nil {
		return nil, fmt.Errorf("resolving the folder of binaries: %w", err)
	}
	p := &CAPIProxy{Log: log, Kubeconfig: log + ".kubeconfig"}
	p.Process, err = c.Spawn("capi-proxy", log, binary, "capi-proxy", "--kubeconfig", kubeconfig, "--write-kubeconfig", p.Kubeconfig, "--address", "127.0.0.1:0", "--health-address", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if err := Eventually(ctx, "capi-proxy to be ready", p.look); err != nil {
		return nil, errors.Join(err, p.Stop(stopGrace))
	}
	return p, nil
}

// Access is what a component has that is given the kubeconfig.
func (p *CAPIProxy) Access() (*rest.Config, error) {
	access, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig that capi-proxy has written: %w", err)
	}
	access.QPS = -1
	return access, nil
}

var loggedHealth = regexp.MustCompile(`"health":"([^"]+)"`)

// look finds out where it serves, and whether it is ready.
func (p *CAPIProxy) look(ctx context.Context) error {
	text, err := os.ReadFile(p.Log)
	if err != nil {
		return err
	}
	health := loggedHealth.FindAllSubmatch(text, -1) // earlier processes may have written there
	if len(health) == 0 {
		return fmt.Errorf("it has logged %q", text)
	}
	access, err := p.Access()
	if err != nil {
		return err
	}
	p.URL, p.Health = access.Host, "http://"+string(health[len(health)-1][1])
	return Ready(ctx, "capi-proxy", p.Health)
}
