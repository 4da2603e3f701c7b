package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

// CAPIProxy is a child process that runs capstan capi-proxy. It dies with the
// cluster, and with this process.
type CAPIProxy struct {
	*cluster.Process
	// URL is where it serves the API, Health where it tells of itself.
	URL, Health string
	// Log is the file with everything it wrote.
	Log string
}

// StartCAPIProxy starts the proxy of the folder of binaries with the access of a
// kubeconfig, and returns when it is ready. It finds ports of its own.
func StartCAPIProxy(ctx context.Context, c *cluster.Cluster, bin, kubeconfig, log string) (*CAPIProxy, error) {
	binary, err := filepath.Abs(filepath.Join(bin, "capstan"))
	if err != nil {
		return nil, fmt.Errorf("resolving the folder of binaries: %w", err)
	}
	p := &CAPIProxy{Log: log}
	p.Process, err = c.Spawn("capi-proxy", log, binary, "capi-proxy", "--kubeconfig", kubeconfig, "--address", "127.0.0.1:0", "--health-address", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if err := Eventually(ctx, "capi-proxy to be ready", p.look); err != nil {
		return nil, errors.Join(err, p.Stop(stopGrace))
	}
	return p, nil
}

var (
	loggedAddress = regexp.MustCompile(`"address":"([^"]+)"`)
	loggedHealth  = regexp.MustCompile(`"health":"([^"]+)"`)
)

// look finds out where it serves, and whether it is ready.
func (p *CAPIProxy) look(ctx context.Context) error {
	text, err := os.ReadFile(p.Log)
	if err != nil {
		return err
	}
	address, health := loggedAddress.FindSubmatch(text), loggedHealth.FindSubmatch(text)
	if address == nil || health == nil {
		return fmt.Errorf("it has logged %q", text)
	}
	p.URL, p.Health = "http://"+string(address[1]), "http://"+string(health[1])
	return Ready(ctx, "capi-proxy", p.Health)
}
