package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/e2e/harness"
)

const (
	// privateGroup is what is stored, standardGroup what a component says.
	privateGroup, standardGroup = "cluster.hypershift.openshift.io", "cluster.x-k8s.io"
	// proxiedRequests is how often each request is made in a run.
	proxiedRequests = 500
	// proxiedSize is the size of a Machine, in bytes.
	proxiedSize = 4 << 10
)

const p95 = 0.95

// proxied is a request by capi-proxy, beside the same one straight to the API server and by a proxy that copies bytes.
type proxied struct {
	method, contentType string
	// path is below the machines of a namespace; %d is the turn.
	path string
	// body is what is sent; GROUP and TURN are replaced.
	body string
}

const machinesOf = "/apis/GROUP/v1beta2/namespaces/default/machines"

// machine is one of the right size.
var machine = `{"apiVersion":"GROUP/v1beta2","kind":"Machine","metadata":{"name":"NAME"},"spec":{"infrastructureRef":{"apiGroup":"infrastructure.GROUP"},"text":"` +
	strings.Repeat("text ", proxiedSize/5) + `"}}`

// proxyScenarios are those of the proxy of private Cluster API types.
func proxyScenarios() []scenario {
	var all []scenario
	for _, one := range []struct {
		name, doc string
		proxied
	}{
		{"get", "reads", proxied{http.MethodGet, "", "/one", ""}},
		{"create", "creations", proxied{http.MethodPost, "application/json", "", strings.Replace(machine, "NAME", "m-TURN", 1)}},
		{"patch", "merge patches", proxied{http.MethodPatch, "application/merge-patch+json", "/one", `{"metadata":{"annotations":{"turn":"TURN"}}}`}},
		{"apply", "applies", proxied{
			http.MethodPatch, "application/apply-patch+yaml", "/one?fieldManager=bench&force=true", strings.Replace(strings.Replace(machine, "NAME", "one", 1), `"text":"`, `"text":"TURN `, 1),
		}},
	} {
		all = append(all, scenario{
			"capi-proxy-" + one.name, fmt.Sprintf("%d %s of a Machine of 4 KiB by capi-proxy: the 95th of 100", proxiedRequests, one.doc),
			[]target{halfAdded(150), halfAddedToCopy(50), added(0.001), rss(40)},
			one.measure,
		})
	}
	return all
}

// measure makes all requests of all runs on one control plane, the three arms in turns, so that what slows the machine down
// slows down all.
func (p proxied) measure(ctx context.Context, b *bench) ([]sample, error) {
	var samples []sample
	return samples, b.checked(ctx, []map[string]any{machinesDefinition()}, func(s *stage, direct *bare) (err error) {
		proxy, err := harness.StartCAPIProxy(ctx, s.Cluster, b.bin, s.Cluster.Kubeconfig(), filepath.Join(s.Cluster.Dir(), "capi-proxy.log"))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, proxy.Stop(stopGrace)) }()
		copying, err := copyingProxy(s.Cluster.Config())
		if err != nil {
			return err
		}
		defer copying.Close()
		through := [3]*bare{direct, {http.DefaultClient, copying.URL}, {http.DefaultClient, proxy.URL}}
		one := strings.ReplaceAll(strings.Replace(machine, "NAME", "one", 1), "GROUP", privateGroup)
		if _, err := direct.send(ctx, http.MethodPost, strings.Replace(machinesOf, "GROUP", privateGroup, 1), "application/json", []byte(one)); err != nil {
			return err
		}
		for run := range b.runs {
			taken, err := p.turns(ctx, through, run)
			if err != nil {
				return fmt.Errorf("run %d: %w", run+1, err)
			}
			if taken.RSSMiB, err = peakMiB(proxy.PID()); err != nil {
				return err
			}
			b.say("run %d of %d: %.2f ms, direct %.2f ms; of half of them %.0f us more than direct, %.0f us more than copied",
				run+1, b.runs, taken.Seconds*1000, taken.FloorSeconds*1000, taken.halfAdded, taken.halfAddedToCopy)
			samples = append(samples, taken)
		}
		return nil
	})
}

// stopGrace is how long the proxy may take to end.
const stopGrace = 15 * time.Second

// turns makes the requests of a run.
func (p proxied) turns(ctx context.Context, through [3]*bare, run int) (sample, error) {
	var took [3][]time.Duration
	for turn := range proxiedRequests + warmups {
		for i, client := range through {
			group := privateGroup
			if i == 2 {
				group = standardGroup
			}
			named := strings.NewReplacer("GROUP", group, "TURN", fmt.Sprintf("%d-%d-%d", run, turn, i))
			path, body := named.Replace(machinesOf+p.path), []byte(named.Replace(p.body))
			one, err := timed(func() error {
				_, err := client.send(ctx, p.method, path, p.contentType, body)
				return err
			})
			if err != nil {
				return sample{}, err
			}
			if turn >= warmups {
				took[i] = append(took[i], one)
			}
		}
	}
	half := func(i int) float64 { return float64(quantile(took[i], middle).Microseconds()) }
	return sample{
		FloorSeconds: quantile(took[0], p95).Seconds(), Seconds: quantile(took[2], p95).Seconds(),
		halfAdded: half(2) - half(0), halfAddedToCopy: half(2) - half(1),
	}, nil
}

// copyingProxy passes everything on as it is.
func copyingProxy(config *rest.Config) (*httptest.Server, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("setting up the proxy that copies: %w", err)
	}
	to, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("setting up the proxy that copies: %w", err)
	}
	return httptest.NewServer(&httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
	}), nil
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
