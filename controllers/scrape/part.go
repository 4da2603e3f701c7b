// Package scrape serves metrics to who may read them, and gives other servers the same TLS. It is no
// machine, and decides nothing: phases/scrape does.
package scrape

import (
	"context"
	"crypto/tls"

	configv1 "github.com/openshift/api/config/v1"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	phases "github.com/capstan-capi/capstan/phases/scrape"
)

const name = "scrape"

// Part is what the metrics' server brings to the house.
var Part = options.Part{Name: name, Add: Add, Kinds: kinds}

// authorities is the ConfigMap in which kube-apiserver tells which authorities certify its clients, under clientCA.
var authorities = client.ObjectKey{Namespace: "kube-system", Name: "extension-apiserver-authentication"}

const clientCA = "client-ca-file"

// apiServer has the cluster's TLS profile.
var apiServer = client.ObjectKey{Name: "cluster"}

func serves(o options.Options) bool { return o.MetricsAddress != "" && o.MetricsAddress != "0" }

func kinds(o options.Options) []house.Kind {
	if !serves(o) {
		return nil
	}
	return []house.Kind{
		{Version: corev1.SchemeGroupVersion, Object: &corev1.ConfigMap{}, List: &corev1.ConfigMapList{}, Namespaced: true, Only: []client.ObjectKey{authorities}},
		{Version: configv1.GroupVersion, Object: &configv1.APIServer{}, List: &configv1.APIServerList{}},
	}
}

// Add has the manager serve metrics.
func Add(mgr ctrl.Manager, o options.Options) error {
	if !serves(o) {
		return nil
	}
	reviews, err := phases.NewReviews(mgr.GetConfig(), mgr.GetHTTPClient(), o.House.Queue)
	if err != nil {
		return err
	}
	log := mgr.GetLogger().WithName(name)
	gate := &phases.Gate{
		Authorities: func(ctx context.Context) (string, error) {
			found := &corev1.ConfigMap{}
			err := mgr.GetClient().Get(ctx, authorities, found)
			return found.Data[clientCA], err
		},
		Reviews: reviews, Clock: o.House.Clock, Log: log,
	}
	handler := gate.Before(promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}))
	return mgr.Add(&Server{What: "metrics", Address: o.MetricsAddress, HTTP: phases.Server(handler, log), TLS: TLS(mgr.GetClient(), o.MetricsCertDir), Grace: grace})
}

// TLS is that of a server with tls.crt and tls.key in a folder, which speaks as the cluster's profile says.
func TLS(cluster client.Reader, folder string) *tls.Config {
	return phases.TLS(folder, func(ctx context.Context) (*configv1.TLSSecurityProfile, error) {
		found := &configv1.APIServer{}
		err := client.IgnoreNotFound(cluster.Get(ctx, apiServer, found))
		return found.Spec.TLSSecurityProfile, err
	})
}
