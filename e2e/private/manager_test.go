package private_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// manager is one unmodified program of Cluster API.
type manager struct {
	*child
	world, component string
	// webhooks is the port that it serves them at, and health that of its health.
	webhooks, health int
}

// newManager gives a manager ports: its webhooks have an address before it runs.
func newManager(world, component string) (*manager, error) {
	m := &manager{world: world, component: component}
	return m, plane.ReservePorts(&m.webhooks, &m.health)
}

// id tells the manager from all others.
func (m *manager) id() string { return m.world + "-" + m.component }

// namespace is where the manager's service account lives.
func (m *manager) namespace() string { return m.world + "-system" }

// user is the manager's service account.
func (m *manager) user() string {
	return "system:serviceaccount:" + m.namespace() + ":" + m.component
}

// kubeconfig has the access of the manager's service account.
func (m *manager) kubeconfig() (string, error) {
	return plane.KubeconfigFor(m.user(), "system:serviceaccounts", "system:serviceaccounts:"+m.namespace(), "system:authenticated")
}

// start runs the manager with a kubeconfig, and its webhooks with a certificate of the control plane.
func (m *manager) start(kubeconfig string) error {
	certificates, err := serving(m.id())
	if err != nil {
		return err
	}
	binary, err := filepath.Abs(filepath.Join(bin, "worlds", m.world, m.component))
	if err != nil {
		return err
	}
	m.child, err = spawn(m.id(), m.health, "env",
		"KUBECONFIG="+kubeconfig,
		// The clusters of the dev provider are served on this address.
		"POD_IP=127.0.0.1", "POD_NAMESPACE="+m.namespace(), "POD_NAME="+m.id(),
		binary,
		"--health-addr=127.0.0.1:"+strconv.Itoa(m.health),
		"--webhook-port="+strconv.Itoa(m.webhooks),
		"--webhook-cert-dir="+certificates,
		"--diagnostics-address=0",
	)
	return err
}

// serving is a folder with tls.crt and tls.key of a server on this machine.
func serving(name string) (string, error) {
	folder := filepath.Join(plane.Dir(), name+"-certificates")
	certificate, key, err := plane.Serving("127.0.0.1")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("making a folder of certificates: %w", err)
	}
	for file, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(folder, file), content, 0o600); err != nil {
			return "", fmt.Errorf("writing %s of %s: %w", file, name, err)
		}
	}
	return folder, nil
}
