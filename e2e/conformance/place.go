package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

const (
	// beginning bounds the start of everything but a suite, on a busy machine too.
	beginning = 5 * time.Minute
	// grace is how long a program may take to end.
	grace = 10 * time.Second
)

// place is a fresh control plane, and what stands before it.
type place struct {
	plane *cluster.Cluster
	// proxy is nil in the direct run.
	proxy *harness.CAPIProxy
	// kubeconfig is the suite's.
	kubeconfig string
	close      []func() error
}

// newPlace starts a control plane, and a proxy before it if it is asked for. The logs begin with a path.
func newPlace(ctx context.Context, bin string, s suite, proxied bool, logs string) (_ *place, err error) {
	ctx, cancel := context.WithTimeout(ctx, beginning)
	defer cancel()
	p := &place{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.stop())
		}
	}()
	if p.plane, err = cluster.Start(ctx, cluster.Options{Binaries: filepath.Join(bin, "controlplane"), Alone: s.alone, Patience: beginning}); err != nil {
		return nil, err
	}
	p.kubeconfig = p.plane.Kubeconfig()
	if !proxied {
		return p, nil
	}
	if p.proxy, err = harness.StartCAPIProxy(ctx, p.plane, bin, p.plane.Kubeconfig(), logs+"proxy.log"); err != nil {
		return nil, err
	}
	server := p.proxy.URL
	if s.webhooks || s.bare {
		if server, err = p.fronted(ctx, bin, s.webhooks, logs); err != nil {
			return nil, err
		}
	}
	p.kubeconfig = filepath.Join(p.plane.Dir(), "conformance.kubeconfig")
	return p, writeKubeconfig(p.kubeconfig, server)
}

// fronted is an address at which nobody has to find the token, and where the API server is had ask the shim if the suite serves webhooks.
func (p *place) fronted(ctx context.Context, bin string, webhooks bool, logs string) (string, error) {
	front, err := newFront(p.proxy.URL)
	if err == nil && webhooks {
		front, err = p.redirected(ctx, front, bin, logs)
	}
	if err != nil {
		return "", err
	}
	return p.before(ctx, front)
}

// redirected starts the shim, and is what has the API server ask it, before something else.
func (p *place) redirected(ctx context.Context, next http.Handler, bin, logs string) (http.Handler, error) {
	routes := filepath.Join(p.plane.Dir(), "routes.yaml")
	if err := os.WriteFile(routes, []byte("routes: []\n"), 0o600); err != nil {
		return nil, fmt.Errorf("writing the routes of the shim: %w", err)
	}
	certificates, err := p.certify()
	if err != nil {
		return nil, err
	}
	var address, health string
	if err := p.plane.ReserveAddresses(&address, &health); err != nil {
		return nil, err
	}
	_, err = p.plane.Spawn("capi-shim", logs+"shim.log", filepath.Join(bin, "capi-shim"), "--kubeconfig="+p.plane.Kubeconfig(), "--routes="+routes, "--cert-dir="+certificates,
		"--address="+address, "--health-address="+health, "--metrics-address=0")
	if err != nil {
		return nil, err
	}
	if err := harness.Eventually(ctx, "capi-shim to be ready", func(ctx context.Context) error {
		return harness.Ready(ctx, "capi-shim", "http://"+health)
	}); err != nil {
		return nil, err
	}
	return newRedirect(next, "https://"+address, p.plane.Config().CAData, routes)
}

// before serves what stands before the proxy, and returns its address.
func (p *place) before(ctx context.Context, handler http.Handler) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listening before the proxy: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // ends with the error that Close causes
	p.close = append(p.close, server.Close)
	return "http://" + listener.Addr().String(), nil
}

// certify makes the shim's certificate, and returns its folder.
func (p *place) certify() (string, error) {
	certificate, key, err := p.plane.Serving("127.0.0.1")
	if err != nil {
		return "", err
	}
	folder := filepath.Join(p.plane.Dir(), "shim")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("making the folder of the shim's certificate: %w", err)
	}
	for name, text := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			return "", fmt.Errorf("writing the shim's certificate: %w", err)
		}
	}
	return folder, nil
}

// stop ends everything.
func (p *place) stop() error {
	var problems []error
	for _, end := range p.close {
		problems = append(problems, end())
	}
	if p.proxy != nil {
		problems = append(problems, p.proxy.Stop(grace))
	}
	if p.plane != nil {
		problems = append(problems, p.plane.Stop())
	}
	return errors.Join(problems...)
}

// writeKubeconfig writes one for a server that wants no credentials.
func writeKubeconfig(path, server string) error {
	const here = "proxy"
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{here: {Server: server}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{here: {}},
		Contexts:       map[string]*clientcmdapi.Context{here: {Cluster: here, AuthInfo: here}},
		CurrentContext: here,
	}, path)
	if err != nil {
		return fmt.Errorf("writing the kubeconfig of the proxy: %w", err)
	}
	return nil
}
