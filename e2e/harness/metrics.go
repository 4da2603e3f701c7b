package harness

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
)

// Prometheus is the user that scrapes every OpenShift cluster.
const Prometheus = "system:serviceaccount:openshift-monitoring:prometheus-k8s"

// Metrics is where an operator is to serve its metrics, and with which certificate.
type Metrics struct {
	address string
	// dir is the folder that a kubelet would mount.
	dir string
	env *Environment
}

// NewMetrics finds a place for an operator's metrics and certifies it.
func (e *Environment) NewMetrics(ctx context.Context) (*Metrics, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	m := &Metrics{address: address, dir: filepath.Join(e.Cluster.Dir(), "metrics-"+address), env: e}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the serving certificate: %w", err)
	}
	return m, m.Certify()
}

// freeAddress is a loopback address on which nobody listens at the moment.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	return listener.Addr().String(), listener.Close()
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
	certificate, key, err := m.env.Cluster.Serving("127.0.0.1")
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

// Visitor is somebody who asks for metrics.
type Visitor struct {
	// Access has the certificate, nil for none; Token is sent unless it is empty.
	Access *rest.Config
	Token  string
	// Speaks is the highest version of TLS, zero for any.
	Speaks uint16
}

// Answer is what a visitor gets.
type Answer struct {
	Status int
	Text   string
	TLS    *tls.ConnectionState
}

// Ask asks over a connection of its own; an error says that there was none.
func (m *Metrics) Ask(ctx context.Context, v Visitor) (Answer, error) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(m.env.Cluster.Config().CAData)
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		RootCAs: roots, MinVersion: tls.VersionTLS10, MaxVersion: v.Speaks, //nolint:gosec // The operator is to refuse it.
	}}
	if v.Access != nil {
		certificate, err := tls.X509KeyPair(v.Access.CertData, v.Access.KeyData)
		if err != nil {
			return Answer{}, fmt.Errorf("reading the certificate of a visitor: %w", err)
		}
		transport.TLSClientConfig.Certificates = []tls.Certificate{certificate}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+m.address+"/metrics", http.NoBody)
	if err != nil {
		return Answer{}, fmt.Errorf("asking for the operator's metrics: %w", err)
	}
	if v.Token != "" {
		request.Header.Set("Authorization", "Bearer "+v.Token)
	}
	response, err := (&http.Client{Transport: transport, Timeout: 20 * time.Second}).Do(request)
	if err != nil {
		return Answer{}, fmt.Errorf("asking for the operator's metrics: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return Answer{}, fmt.Errorf("reading the operator's metrics: %w", err)
	}
	return Answer{Status: response.StatusCode, Text: string(text), TLS: response.TLS}, nil
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
