package images

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// clusterHas are the networks of a cluster, and how often they were asked for.
func clusterHas(cidrs ...string) (look func(context.Context) ([]netip.Prefix, error), asked *atomic.Int32) {
	asked = &atomic.Int32{}
	return func(context.Context) (all []netip.Prefix, _ error) {
		asked.Add(1)
		for _, cidr := range cidrs {
			all = append(all, netip.MustParsePrefix(cidr))
		}
		return all, nil
	}, asked
}

// sendsOn has a registry send requests for blobs on to a host, or clients to a token server there.
func sendsOn(r *testRegistry, at, host string) {
	r.breaks(at, func(w http.ResponseWriter, q *http.Request) {
		if at == "/v2/" {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="https://%s/token",service="s"`, host))
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		http.Redirect(w, q, "https://"+host+"/x", http.StatusTemporaryRedirect)
	})
}

func TestPuller_is_not_sent_on_into_the_networks_of_the_cluster(t *testing.T) {
	r, ref, transport := secureRegistry(t)
	look, _ := clusterHas("10.128.0.0/14", "172.30.0.0/16", "fd02::/112")
	for host, network := range map[string]string{
		"10.131.255.255":           "10.128.0.0/14",
		"172.30.0.1:443":           "172.30.0.0/16",
		"[::ffff:172.30.0.1]:8443": "172.30.0.0/16",
		"[fd02::7]":                "fd02::/112",
	} {
		sendsOn(r, "/blobs/", host)
		asked := roundTripper(func(q *http.Request) (*http.Response, error) {
			if q.URL.Host != "example.com" {
				t.Errorf("%s was asked", q.URL.Host)
			}
			return transport.RoundTrip(q)
		})
		p := runPuller(t, Options{Transport: asked, Networks: look})
		p.Want([]Ref{ref})
		_, err := p.failed(ref)
		contains(t, err, "registry example.com", host, "in the network "+network+" of the cluster's pods or services", "let it serve layers and tokens itself", "or name a mirror")
		if err.Kind != KindRegistry || err.Terminal() {
			t.Errorf("it is of kind %s, terminal %t", err.Kind, err.Terminal())
		}
	}
}

// What a name resolves to is known when it is dialled, and what is wrong with it is told all the same.
func TestPuller_is_not_sent_on_to_names_in_the_networks_of_the_cluster(t *testing.T) {
	r, ref, transport := secureRegistry(t)
	look, _ := clusterHas("172.30.0.0/16")
	inside := newNetworks(look, clocktesting.NewFakePassiveClock(time.Now()))
	outer := newOuterTransport(nil, inside)
	t.Cleanup(outer.CloseIdleConnections)
	for _, at := range []string{"/blobs/", "/v2/"} {
		sendsOn(r, at, "tokens.example.com")
		resolved := roundTripper(func(q *http.Request) (*http.Response, error) {
			if q.URL.Host == "example.com" {
				return transport.RoundTrip(q)
			}
			q = q.Clone(q.Context())
			q.URL = &url.URL{Scheme: "https", Host: "172.30.0.1", Path: q.URL.Path}
			return outer.RoundTrip(q)
		})
		p := runPuller(t, Options{Transport: resolved})
		p.Want([]Ref{ref})
		_, err := p.failed(ref)
		contains(t, err, "registry example.com", "172.30.0.1:443", "in the network 172.30.0.0/16")
	}
}

func TestPuller_pulls_from_a_registry_in_the_networks_of_the_cluster_without_asking_for_them(t *testing.T) {
	r, ref, transport := secureRegistry(t)
	look, asked := clusterHas("172.30.0.0/16")
	for _, host := range []string{"172.30.0.1", "172.30.0.1:443"} {
		for _, to := range []string{"172.30.0.1", "172.30.0.1:443"} {
			fault := func(w http.ResponseWriter, q *http.Request) bool {
				if q.URL.Query().Get("hop") != "" {
					return false
				}
				http.Redirect(w, q, "https://"+to+q.URL.Path+"?hop=1", http.StatusTemporaryRedirect)
				return true
			}
			r.fault.Store(&fault)
			p := runPuller(t, Options{Transport: transport, Networks: look})
			inside := Ref(host + string(ref)[len("example.com"):])
			p.Want([]Ref{inside})
			p.ready(inside)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the networks were asked for %d times", n)
	}
}

func TestPuller_goes_nowhere_while_the_networks_of_the_cluster_are_not_known(t *testing.T) {
	r, ref, transport := secureRegistry(t)
	sendsOn(r, "/blobs/", "192.0.2.7")
	asked := roundTripper(func(q *http.Request) (*http.Response, error) {
		if q.URL.Host != "example.com" {
			t.Errorf("%s was asked", q.URL.Host)
		}
		return transport.RoundTrip(q)
	})
	p := runPuller(t, Options{Transport: asked, Networks: func(context.Context) ([]netip.Prefix, error) {
		return nil, errors.New("the API server is away")
	}})
	p.Want([]Ref{ref})
	_, err := p.failed(ref)
	contains(t, err, "registry example.com", "192.0.2.7", "nobody can tell", "the API server is away", "tried again by itself")
	if err.Kind != KindNetwork || err.Terminal() {
		t.Errorf("it is of kind %s, terminal %t", err.Kind, err.Terminal())
	}
}

func TestNetworks_are_asked_for_again_after_ten_minutes_and_after_a_failure(t *testing.T) {
	clk := clocktesting.NewFakePassiveClock(time.Now())
	look, asked := clusterHas("172.30.0.0/16")
	away := errors.New("away")
	n := newNetworks(func(ctx context.Context) ([]netip.Prefix, error) {
		if all, err := look(ctx); away == nil {
			return all, err
		}
		return nil, away
	}, clk)
	for i, step := range []struct {
		after time.Duration
		away  error
		asked int32
	}{{0, away, 1}, {0, nil, 2}, {9 * time.Minute, away, 2}, {2 * time.Minute, away, 3}, {0, nil, 4}} {
		clk.SetTime(clk.Now().Add(step.after))
		away = step.away
		all, err := n.now(t.Context())
		if asked.Load() != step.asked || (err == nil) != (len(all) == 1) {
			t.Errorf("step %d: asked %d times, has %v, %v", i, asked.Load(), all, err)
		}
	}
}

func TestOuterTransport_opens_no_connection_into_the_networks_of_the_cluster(t *testing.T) {
	look, _ := clusterHas("10.128.0.0/14", "fd01::/48")
	transport := newOuterTransport(nil, newNetworks(look, clocktesting.NewFakePassiveClock(time.Now())))
	for _, address := range []string{"10.128.0.1:443", "[::ffff:10.128.0.1]:443", "[fd01::1]:443"} {
		connection, err := transport.DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = connection.Close()
		}
		if inner, is := errors.AsType[*innerError](err); !is || !inner.network.IsValid() {
			t.Errorf("%s: %v", address, err)
		}
	}
}
