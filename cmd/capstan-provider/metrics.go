package main

import (
	"context"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/capstan-capi/capstan/controllers/house"
	served "github.com/capstan-capi/capstan/controllers/scrape"
	"github.com/capstan-capi/capstan/phases/scrape"
)

// grace is how long a scrape that has begun may take when the process ends.
const grace = 5 * time.Second

// authorities is the ConfigMap in which kube-apiserver tells which authorities certify its clients, under clientCA.
var authorities = client.ObjectKey{Namespace: "kube-system", Name: "extension-apiserver-authentication"}

const clientCA = "client-ca-file"

// serveMetrics has the manager serve metrics to who may read them. A management plane has no TLS profile that is known here.
func (f *managerFlags) serveMetrics(mgr ctrl.Manager, h *house.House) error {
	if f.metricsAddress == "" || f.metricsAddress == "0" {
		return nil
	}
	reviews, err := scrape.NewReviews(mgr.GetConfig(), mgr.GetHTTPClient(), h.Queue)
	if err != nil {
		return err
	}
	log := mgr.GetLogger().WithName("metrics")
	gate := &scrape.Gate{
		Authorities: func(ctx context.Context) (string, error) {
			found := &corev1.ConfigMap{}
			err := mgr.GetAPIReader().Get(ctx, authorities, found)
			return found.Data[clientCA], err
		},
		Reviews: reviews, Clock: h.Clock, Log: log,
	}
	handler := gate.Before(promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}))
	tls := scrape.TLS(f.metricsCertDir, func(context.Context) (*configv1.TLSSecurityProfile, error) { return nil, nil })
	return mgr.Add(&served.Server{What: "metrics", Address: f.metricsAddress, HTTP: scrape.Server(handler, log), TLS: tls, Grace: grace})
}
