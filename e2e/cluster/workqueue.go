package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/rest"
)

// NamespaceQueue is the queue of the controller that empties Namespaces, as kube-controller-manager names it in its metrics.
const NamespaceQueue = "namespace"

// Idle is nil when a controller of kube-controller-manager has nothing in hand, by the name of its queue: what it was given it
// is done with, whatever is to come to it later. What is done is counted before what was given, since one answer has its counters
// not from one moment.
func (c *Cluster) Idle(ctx context.Context, queue string) error {
	before, err := c.managerMetrics(ctx)
	if err != nil {
		return fmt.Errorf("asking what kube-controller-manager has in hand: %w", err)
	}
	after, err := c.managerMetrics(ctx)
	if err != nil {
		return fmt.Errorf("asking what kube-controller-manager has in hand: %w", err)
	}
	given, known := sampleOf(after["workqueue_adds_total"], queue)
	if !known {
		return fmt.Errorf("kube-controller-manager has no queue %q", queue)
	}
	done, _ := sampleOf(before["workqueue_work_duration_seconds"], queue)
	if done.GetHistogram().GetSampleCount() < uint64(given.GetCounter().GetValue()) {
		return fmt.Errorf("queue %q was given %v and was done with %d", queue, given.GetCounter().GetValue(), done.GetHistogram().GetSampleCount())
	}
	return nil
}

func (c *Cluster) managerMetrics(ctx context.Context) (map[string]*dto.MetricFamily, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d/metrics", c.managerPort.number), http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := c.manager.Do(request)
	if err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	if answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", answer.StatusCode)
	}
	return families, errors.Join(err, answer.Body.Close())
}

// sampleOf is the sample of a family whose label name has a value.
func sampleOf(family *dto.MetricFamily, name string) (*dto.Metric, bool) {
	for _, sample := range family.GetMetric() {
		for _, label := range sample.GetLabel() {
			if label.GetName() == "name" && label.GetValue() == name {
				return sample, true
			}
		}
	}
	return nil, false
}

// managerClient trusts the cluster's authority, and says nothing of who it is: what kube-controller-manager counts is no secret.
func (c *Cluster) managerClient() (*http.Client, error) {
	return rest.HTTPClientFor(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CAData: c.authority.bundle()}})
}
