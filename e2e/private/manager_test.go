//go:build private

package private_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// manager is one unmodified program of Cluster API, as a child process.
type manager struct {
	world, component string
	// health and webhooks are the ports that it serves them at.
	health, webhooks int
	process          *cluster.Process
}

// newManager gives a manager ports that are free now: its webhooks have an address before it runs.
func newManager(world, component string) (*manager, error) {
	m := &manager{world: world, component: component}
	for _, port := range []*int{&m.health, &m.webhooks} {
		free, err := freePort()
		if err != nil {
			return nil, err
		}
		*port = free
	}
	return m, nil
}

// freePort is a port of the loopback that nobody listened on a moment ago.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // It is closed at once.
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// namespace is where the manager's service account lives.
func (m *manager) namespace() string { return m.world + "-system" }

// user is the manager's service account.
func (m *manager) user() string {
	return "system:serviceaccount:" + m.namespace() + ":" + m.component
}

// groups are those of every service account.
func (m *manager) groups() []string {
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + m.namespace(), "system:authenticated"}
}

// start runs the manager with a kubeconfig, and its webhooks with a certificate of the control plane.
func (m *manager) start(kubeconfig string) error {
	certificates, err := m.writeCertificates()
	if err != nil {
		return err
	}
	binary, err := filepath.Abs(filepath.Join(bin, "worlds", m.world, m.component))
	if err != nil {
		return err
	}
	name := m.world + "-" + m.component
	m.process, err = plane.Spawn(name, filepath.Join(plane.Dir(), name+".log"), "env",
		"KUBECONFIG="+kubeconfig,
		// The clusters of the dev provider are served on this address.
		"POD_IP=127.0.0.1", "POD_NAMESPACE="+m.namespace(), "POD_NAME="+name,
		binary,
		"--health-addr=127.0.0.1:"+strconv.Itoa(m.health),
		"--webhook-port="+strconv.Itoa(m.webhooks),
		"--webhook-cert-dir="+certificates,
		"--diagnostics-address=0",
	)
	return err
}

func (m *manager) writeCertificates() (string, error) {
	folder := filepath.Join(plane.Dir(), m.world+"-"+m.component+"-certificates")
	certificate, key, err := plane.Serving("127.0.0.1")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("making a folder of certificates: %w", err)
	}
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return "", fmt.Errorf("writing %s of %s: %w", name, m.component, err)
		}
	}
	return folder, nil
}

// ready waits until the manager says that it is.
func (m *manager) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	asker := &http.Client{Timeout: 2 * time.Second}
	return harness.Eventually(ctx, m.world+"/"+m.component+" to be ready", func(ctx context.Context) error {
		if err := m.alive(); err != nil {
			return err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/readyz", m.health), nil)
		if err != nil {
			return err
		}
		answer, err := asker.Do(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("it answers %s", answer.Status)
		}
		return nil
	})
}

// alive is an error once the manager has ended.
func (m *manager) alive() error {
	select {
	case <-m.process.Exited():
		return fmt.Errorf("%s/%s has ended: %w", m.world, m.component, m.process.Failure())
	default:
		return nil
	}
}
