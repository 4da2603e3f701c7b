package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/transport"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// The arms of a measurement: three ways to one API server, which take turns.
const (
	straight = iota
	copied
	translated
	arms
)

const (
	// privateGroup is what is stored, standardGroup what a component says.
	privateGroup, standardGroup = "cluster.hypershift.openshift.io", "cluster.x-k8s.io"
	// machineSize is the size of a Machine, in bytes.
	machineSize = 4 << 10
	// stopGrace is how long a proxy may take to end.
	stopGrace = 15 * time.Second
	// connections is how many a client keeps to a proxy: as many as client-go does.
	connections = 25
)

const machinesOf = "/apis/GROUP/v1beta2/namespaces/default/machines"

// machine is one of the right size.
var machine = `{"apiVersion":"GROUP/v1beta2","kind":"Machine","metadata":{"name":"NAME"},"spec":{"infrastructureRef":{"apiGroup":"infrastructure.GROUP"},"text":"` +
	strings.Repeat("text ", machineSize/5) + `"}}`

// ways are the arms, with the processes that two of them need.
type ways struct {
	*stage
	through [arms]*bare
	proxy   *harness.CAPIProxy
}

// saying puts an arm's group, and more, into a path or a body.
func saying(arm int, more ...string) *strings.Replacer {
	group := privateGroup
	if arm == translated {
		group = standardGroup
	}
	return strings.NewReplacer(append([]string{"GROUP", group}, more...)...)
}

// proxying runs a measurement on a fresh control plane that has a kind of machines, with capi-proxy and a proxy that copies bytes,
// each a process. What clients accept is not compressed in any arm.
func (b *bench) proxying(ctx context.Context, measure func(*ways) error) error {
	return b.checked(ctx, []map[string]any{machinesDefinition()}, func(s *stage, _ *bare) (err error) {
		proxy, err := harness.StartCAPIProxy(ctx, s.Cluster, b.bin, s.Cluster.Kubeconfig(), filepath.Join(s.Cluster.Dir(), "capi-proxy.log"))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, proxy.Stop(stopGrace)) }()
		process, copies, err := startCopying(ctx, s.Cluster)
		if err != nil {
			return err
		}
		defer process.Kill()
		access := rest.CopyConfig(s.Cluster.Config())
		access.UserAgent, access.DisableCompression = benchUserAgent, true
		direct, err := newBare(access)
		if err != nil {
			return err
		}
		return measure(&ways{stage: s, proxy: proxy, through: [arms]*bare{direct, plain(copies), plain(proxy.URL)}})
	})
}

// plain speaks to a proxy on loopback. It has the name of the direct one: the API server keeps fields apart by who wrote them, and a
// second name would have it do more.
func plain(address string) *bare {
	by := transport.NewUserAgentRoundTripper(benchUserAgent, &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true})
	return &bare{&http.Client{Transport: by}, address}
}

// fill makes so many machines.
func (w *ways) fill(ctx context.Context, count int) error {
	return eachAtOnce(ctx, count, func(ctx context.Context, i int) error {
		body := saying(straight, "NAME", fmt.Sprintf("machine-%d", i)).Replace(machine)
		_, err := w.through[straight].send(ctx, http.MethodPost, saying(straight).Replace(machinesOf), "application/json", []byte(body))
		return err
	})
}

// eachAtOnce does something so many times, some of them at once.
func eachAtOnce(ctx context.Context, count int, do func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range count {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// copyFor has this program be the proxy that copies: it is a process of its own, as capi-proxy is.
const copyFor = "copy-for"

var copyingAt = regexp.MustCompile(`copying at (\S+)\n`)

// copying passes everything on as it is, to the server of a kubeconfig.
func copying(kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.DisableCompression = true
	by, err := rest.TransportFor(config)
	if err != nil {
		return err
	}
	to, err := url.Parse(config.Host)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "copying at http://%s\n", listener.Addr())
	server := &http.Server{ReadHeaderTimeout: patience, Handler: &httputil.ReverseProxy{
		Transport: by, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
	}}
	return server.Serve(listener)
}

// startCopying starts that process, and says where it serves.
func startCopying(ctx context.Context, c *cluster.Cluster) (process *cluster.Process, address string, err error) {
	own, err := os.Executable()
	if err != nil {
		return nil, "", fmt.Errorf("looking for the proxy that copies: %w", err)
	}
	log := filepath.Join(c.Dir(), "copying.log")
	process, err = c.Spawn("the proxy that copies", log, own, copyFor, c.Kubeconfig())
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return process, address, harness.Eventually(ctx, "the proxy that copies to serve", func(context.Context) error {
		text, err := os.ReadFile(log)
		if err != nil {
			return err
		}
		found := copyingAt.FindSubmatch(text)
		if found == nil {
			return fmt.Errorf("it says %q", text)
		}
		address = string(found[1])
		return nil
	})
}

// machinesDefinition is that of a Machine which may say anything.
func machinesDefinition() map[string]any {
	anything := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "machines." + privateGroup},
		"spec": map[string]any{
			"group": privateGroup, "scope": "Namespaced",
			"names":    map[string]any{"plural": "machines", "singular": "machine", "kind": "Machine", "listKind": "MachineList"},
			"versions": []any{map[string]any{"name": "v1beta2", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": anything}}},
		},
	}
}
