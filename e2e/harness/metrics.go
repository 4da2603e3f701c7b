package harness

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
)

// Prometheus is the user that scrapes every OpenShift cluster.
const Prometheus = "system:serviceaccount:openshift-monitoring:prometheus-k8s"

const loopback = "127.0.0.1"

// Metrics is where an operator is to serve its metrics, and with which certificate.
type Metrics struct {
	address string
	// host is whom the certificate is for, and roots who may have made it.
	host  string
	roots []byte
	// dir is the folder that a kubelet would mount.
	dir string
	env *Environment
}

// NewMetrics finds a place for an operator's metrics and certifies it.
func (e *Environment) NewMetrics() (*Metrics, error) {
	var address string
	if err := e.Cluster.ReserveAddresses(&address); err != nil {
		return nil, err
	}
	m := &Metrics{address: address, host: loopback, roots: e.Cluster.Config().CAData, dir: filepath.Join(e.Cluster.Dir(), "metrics-"+address), env: e}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the serving certificate: %w", err)
	}
	return m, m.Certify()
}

// MetricsOfPod are those that a pod serves on an address, with the certificate that the service CA made for a Service.
func (e *Environment) MetricsOfPod(address, service string) *Metrics {
	return &Metrics{address: address, host: service + "." + OperatorNamespace + ".svc", roots: e.Cluster.ServiceCABundle(), env: e}
}

// Arguments are those of an operator that serves them.
func (m *Metrics) Arguments() []string {
	return []string{"--metrics-bind-address=" + m.address, "--metrics-cert-dir=" + m.dir}
}

// OfWebhooks are the arguments of webhooks that serve them.
func (m *Metrics) OfWebhooks() []string {
	return []string{"--metrics-address=" + m.address, "--metrics-cert-dir=" + m.dir}
}

// Certify writes another certificate, as the service CA does when one is renewed.
func (m *Metrics) Certify() error {
	certificate, key, err := m.env.Cluster.Serving(m.host)
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(m.dir, name), content, 0o600); err != nil {
			return fmt.Errorf("writing the serving certificate: %w", err)
		}
	}
	return nil
}

// Withdraw takes the certificate away.
func (m *Metrics) Withdraw() error {
	return errors.Join(os.Remove(filepath.Join(m.dir, "tls.crt")), os.Remove(filepath.Join(m.dir, "tls.key")))
}

// Text is what the operator counts, in Prometheus's text format, as Prometheus gets it.
func (m *Metrics) Text(ctx context.Context) (string, error) {
	access, err := m.env.Cluster.ConfigFor(Prometheus)
	if err != nil {
		return "", err
	}
	answer, err := m.Ask(ctx, Visitor{Access: access})
	if err == nil && answer.Status != http.StatusOK {
		err = fmt.Errorf("asking for the operator's metrics: status %d", answer.Status)
	}
	return answer.Text, err
}
