package clusterapi

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"

	configv1 "github.com/openshift/api/config/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned/typed/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// check is an error if a 404 does not say that there is no object of a kind.
type check func(ctx context.Context, kind schema.GroupVersionKind, notFound error) error

// clusterNetworks returns what asks for the networks of the cluster's pods and services. A cluster without Network cluster
// has none, unless its API server does not serve Networks yet.
func clusterNetworks(config *rest.Config, connection *http.Client, checkNotFound check) (func(context.Context) ([]netip.Prefix, error), error) {
	openshift, err := configclient.NewForConfigAndClient(config, connection)
	if err != nil {
		return nil, fmt.Errorf("making the client of Networks: %w", err)
	}
	return func(ctx context.Context) ([]netip.Prefix, error) {
		network, err := openshift.Networks().Get(ctx, Singleton, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			if err = checkNotFound(ctx, configv1.GroupVersion.WithKind("Network"), err); err == nil {
				return nil, nil
			}
		}
		if err != nil {
			return nil, fmt.Errorf("reading Network %s: %w", Singleton, err)
		}
		return networksOf(network)
	}, nil
}

// networksOf are those that are at work, and those that are asked for where none is told.
func networksOf(network *configv1.Network) (all []netip.Prefix, err error) {
	pods, services := network.Status.ClusterNetwork, network.Status.ServiceNetwork
	if len(pods) == 0 {
		pods = network.Spec.ClusterNetwork
	}
	if len(services) == 0 {
		services = network.Spec.ServiceNetwork
	}
	cidrs := make([]string, 0, len(pods)+len(services))
	for _, pod := range pods {
		cidrs = append(cidrs, pod.CIDR)
	}
	for _, cidr := range append(cidrs, services...) {
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil {
			return nil, fmt.Errorf("reading %q in Network %s: %w; correct that", cidr, Singleton, err)
		}
		all = append(all, prefix)
	}
	return all, nil
}
