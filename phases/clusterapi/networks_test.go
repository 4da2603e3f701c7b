package clusterapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

func TestNetworksOf_are_those_at_work_or_else_those_asked_for(t *testing.T) {
	pods := func(cidrs ...string) (all []configv1.ClusterNetworkEntry) {
		for _, cidr := range cidrs {
			all = append(all, configv1.ClusterNetworkEntry{CIDR: cidr})
		}
		return all
	}
	spec := configv1.NetworkSpec{ClusterNetwork: pods("10.0.0.0/14"), ServiceNetwork: []string{"172.0.0.0/16"}}
	for name, c := range map[string]struct {
		network configv1.Network
		want    string
	}{
		"nothing is told": {configv1.Network{}, "[]"},
		"both are told": {configv1.Network{Spec: spec, Status: configv1.NetworkStatus{
			ClusterNetwork: pods("10.128.0.0/14", "fd01::/48"), ServiceNetwork: []string{"172.30.0.0/16", "fd02::/112"},
		}}, "[10.128.0.0/14 fd01::/48 172.30.0.0/16 fd02::/112]"},
		"only that of pods is told": {configv1.Network{
			Spec: spec, Status: configv1.NetworkStatus{ClusterNetwork: pods("10.128.0.0/14")},
		}, "[10.128.0.0/14 172.0.0.0/16]"},
		"both are only asked for": {configv1.Network{Spec: spec}, "[10.0.0.0/14 172.0.0.0/16]"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := networksOf(&c.network)
			if err != nil || fmt.Sprint(all) != c.want {
				t.Errorf("got %v, %v, want %s", all, err, c.want)
			}
		})
	}
}

func TestNetworksOf_leaves_out_nothing_that_it_cannot_read(t *testing.T) {
	_, err := networksOf(&configv1.Network{Status: configv1.NetworkStatus{ServiceNetwork: []string{"172.30.0.0"}}})
	if err == nil || !strings.Contains(err.Error(), `"172.30.0.0" in Network cluster`) {
		t.Errorf("got %v", err)
	}
}

func TestClusterNetworks_are_none_only_where_the_API_server_has_none(t *testing.T) {
	notYet := errors.New("Networks are announced and not served")
	for name, c := range map[string]struct {
		status int
		check  error
		known  bool
	}{
		"the object is not found":     {http.StatusNotFound, nil, true},
		"the kind is not served yet":  {http.StatusNotFound, notYet, false},
		"they may not be read":        {http.StatusForbidden, nil, false},
		"the API server has an error": {http.StatusInternalServerError, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/apis/config.openshift.io/v1/networks/cluster" {
					t.Errorf("%s was asked for", r.URL.Path)
				}
				w.WriteHeader(c.status)
			}))
			t.Cleanup(server.Close)
			look, err := clusterNetworks(&rest.Config{Host: server.URL}, server.Client(), func(_ context.Context, kind schema.GroupVersionKind, err error) error {
				if kind.String() != "config.openshift.io/v1, Kind=Network" || !apierrors.IsNotFound(err) {
					t.Errorf("checked is %v of %s", err, kind)
				}
				return c.check
			})
			if err != nil {
				t.Fatal(err)
			}
			if all, err := look(t.Context()); len(all) > 0 || (err == nil) != c.known || c.check != nil && !errors.Is(err, c.check) {
				t.Errorf("got %v, %v", all, err)
			}
		})
	}
}
