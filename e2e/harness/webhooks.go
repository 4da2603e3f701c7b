package harness

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

// WebhooksAccount is the ServiceAccount of the checker's webhooks.
const WebhooksAccount = "capstan-webhooks"

// WebhooksUserAgent is what the checker's requests carry in the audit log.
const WebhooksUserAgent = "capstan-webhooks"

const webhooksUser = "system:serviceaccount:" + OperatorNamespace + ":" + WebhooksAccount

// Webhooks is a child process that serves the checker's webhooks on a loopback address, as deploy's ServiceAccount.
type Webhooks struct {
	// Log is the file with everything it wrote.
	Log string

	env             *Environment
	address, health string
	dir             string
	process         *cluster.Process
}

// NewWebhooks finds a place for webhooks and certifies it; nothing is started.
func (e *Environment) NewWebhooks() (*Webhooks, error) {
	w := &Webhooks{env: e}
	if err := e.Cluster.ReserveAddresses(&w.address, &w.health); err != nil {
		return nil, err
	}
	w.dir = filepath.Join(e.Cluster.Dir(), "webhooks-"+w.address)
	w.Log = filepath.Join(w.dir, "log")
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the serving certificate: %w", err)
	}
	return w, w.Certify()
}

// Certify writes another certificate, as the service CA does when one is renewed.
func (w *Webhooks) Certify() error {
	certificate, key, err := w.env.Cluster.Serving("127.0.0.1")
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(w.dir, name), content, 0o600); err != nil {
			return fmt.Errorf("writing the serving certificate: %w", err)
		}
	}
	return nil
}

// URL is where a path is served.
func (w *Webhooks) URL(path string) string { return "https://" + w.address + path }

// CA is the authority of the certificate, in PEM.
func (w *Webhooks) CA() []byte { return w.env.Cluster.Config().CAData }

// Start starts the process and does not wait for anything. It ends soon when it is told to, unless arguments have it drain: the
// suites mostly end it when nobody asks it any more.
func (w *Webhooks) Start(arguments ...string) error {
	kubeconfig, err := w.env.Cluster.KubeconfigFor(webhooksUser, operatorGroup, operatorGroups)
	if err != nil {
		return err
	}
	w.process, err = w.env.Cluster.Spawn("the webhooks", w.Log, slices.Concat([]string{
		filepath.Join(w.env.bin, "capstan"), "webhooks", "--kubeconfig=" + kubeconfig, "--address=" + w.address,
		"--cert-dir=" + w.dir, "--metrics-address=0", "--health-address=" + w.health, "--drain=50ms",
	}, arguments)...)
	return err
}

// Ready is nil once it takes requests.
func (w *Webhooks) Ready(ctx context.Context) error {
	return Ready(ctx, "the webhooks", "http://"+w.health)
}

// Ready asks a process at the URL of its health whether it takes requests; nil once it does.
func Ready(ctx context.Context, what, health string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, health+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Timeout: time.Second}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: not ready: status %d", what, response.StatusCode)
	}
	return nil
}

// Serial is the serial number of the certificate that a new connection meets.
func (w *Webhooks) Serial(ctx context.Context) (string, error) {
	state, err := w.greet(ctx, tls.VersionTLS12, 0)
	if err != nil {
		return "", err
	}
	return state.PeerCertificates[0].SerialNumber.String(), nil
}

// Speaks is nil if a new connection may be of this version of TLS and no other.
func (w *Webhooks) Speaks(ctx context.Context, version uint16) error {
	_, err := w.greet(ctx, version, version)
	return err
}

// greet makes a connection of these versions of TLS, and ends it.
func (w *Webhooks) greet(ctx context.Context, least, most uint16) (tls.ConnectionState, error) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.CA())
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: roots, MinVersion: least, MaxVersion: most}}
	connection, err := dialer.DialContext(ctx, "tcp", w.address)
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer connection.Close()
	secured, is := connection.(*tls.Conn)
	if !is {
		return tls.ConnectionState{}, errors.New("the connection is not secured")
	}
	return secured.ConnectionState(), nil
}

// Terminate asks the process to end, as a kubelet would, and does not wait.
func (w *Webhooks) Terminate() { w.process.Terminate() }

// Kill ends the process with SIGKILL and returns when it is gone.
func (w *Webhooks) Kill() { w.process.Kill() }

// PID is the process, also when it is gone.
func (w *Webhooks) PID() int { return w.process.PID() }

// Exited is closed when the process is gone, for whatever reason.
func (w *Webhooks) Exited() <-chan struct{} { return w.process.Exited() }

// Failure is how a process that is gone has ended: nil for exit code 0.
func (w *Webhooks) Failure() error { return w.process.Failure() }

// Stop asks the process to end, and returns when it has; its error says that it did not end with exit code 0. Stopping one that
// is gone, or was never started, does nothing.
func (w *Webhooks) Stop() error {
	if w.process == nil {
		return nil
	}
	select {
	case <-w.process.Exited():
		return nil
	default:
	}
	if err := w.process.Stop(stopGrace); err != nil {
		return err
	}
	if err := w.process.Failure(); err != nil {
		return fmt.Errorf("stopping the webhooks: %w; see %s", err, w.Log)
	}
	return nil
}
