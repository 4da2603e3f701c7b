package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/e2e/harness"
)

const (
	// floorManager is who the floor says it is, as a field manager.
	floorManager = "capstan-bench-floor"
	// atOnce is how many requests the floor has under way.
	atOnce = 16
)

// bare speaks to the API server with nothing in between: no cache, no
// discovery, no retries, and what is answered to a write is not even decoded.
type bare struct {
	http *http.Client
	host string
}

func newBare(config *rest.Config) (*bare, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("building a bare client: %w", err)
	}
	return &bare{client, config.Host}, nil
}

// floor installs a content in the gated order and returns how long that took:
// per component the CRDs, then, once all are Established, the rest, and then
// all Deployments are waited for. The waits are watches, opened before the
// first write they are about.
func (c *bare) floor(ctx context.Context, components []component) (time.Duration, error) {
	components, stamp, err := stamped(components)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	for _, one := range components {
		crds := gate{one.name, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crdKind, stamp, established}
		if err := c.through(ctx, crds, one.crds); err != nil {
			return 0, fmt.Errorf("applying the CRDs of %s: %w", one.name, err)
		}
		deployments := gate{one.name, "/apis/apps/v1/namespaces/" + harness.CAPINamespace + "/deployments", "Deployment", stamp, available}
		if err := c.through(ctx, deployments, one.rest); err != nil {
			return 0, fmt.Errorf("applying the objects of %s: %w", one.name, err)
		}
	}
	return time.Since(began), nil
}

// stampAnnotation tells one run of the floor from the one before, as Capstan's
// revision annotation tells revisions apart: what is ready from before does not count.
const stampAnnotation = "bench.capstan.io/run"

func stamped(components []component) ([]component, string, error) {
	stamp := strconv.FormatInt(time.Now().UnixNano(), 10)
	made := make([]component, len(components))
	for i, one := range components {
		made[i].name = one.name
		for _, pair := range []struct {
			from []object
			to   *[]object
		}{{one.crds, &made[i].crds}, {one.rest, &made[i].rest}} {
			for _, o := range pair.from {
				whole := &unstructured.Unstructured{}
				if err := whole.UnmarshalJSON(o.payload); err != nil {
					return nil, "", fmt.Errorf("reading %s %s again: %w", o.kind, o.name, err)
				}
				annotations := whole.GetAnnotations()
				if annotations == nil {
					annotations = map[string]string{}
				}
				annotations[stampAnnotation] = stamp
				whole.SetAnnotations(annotations)
				payload, err := whole.MarshalJSON()
				if err != nil {
					return nil, "", fmt.Errorf("encoding %s %s: %w", o.kind, o.name, err)
				}
				o.payload = payload
				*pair.to = append(*pair.to, o)
			}
		}
	}
	return made, stamp, nil
}

// gate is what the floor waits for after the writes of a component: all its
// objects of one kind, with this run's stamp, are ready.
type gate struct {
	component, collection, kind, stamp string
	ready                              func(item) bool
}

// through applies objects and waits at the gate.
func (c *bare) through(ctx context.Context, g gate, objects []object) error {
	waiting := map[string]bool{}
	for _, o := range objects {
		if o.kind == g.kind {
			waiting[o.name] = true
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce + 1)
	if len(waiting) > 0 {
		group.Go(func() error {
			return c.watch(ctx, g.collection, url.Values{"labelSelector": {harness.ManagedByLabel + "=" + g.component}}, func(i item) bool {
				if g.ready(i) && i.Metadata.Annotations[stampAnnotation] == g.stamp {
					delete(waiting, i.Metadata.Name)
				}
				return len(waiting) == 0
			})
		})
	}
	for _, o := range objects {
		group.Go(func() error { return c.apply(ctx, o) })
	}
	return group.Wait()
}

func (c *bare) apply(ctx context.Context, o object) error {
	address := c.host + o.path + "?fieldManager=" + floorManager + "&force=true"
	request, err := http.NewRequestWithContext(ctx, http.MethodPatch, address, bytes.NewReader(o.payload))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/apply-patch+yaml")
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("applying %s %s: %w", o.kind, o.name, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("applying %s %s: %s: %.300s (%w)", o.kind, o.name, response.Status, answer, err)
	}
	return nil
}

// condition is the part of a condition that gates ask for.
type condition struct{ Type, Status string }

func has(conditions []condition, kind string) bool {
	for _, c := range conditions {
		if c.Type == kind {
			return c.Status == "True"
		}
	}
	return false
}

func established(i item) bool { return has(i.Status.Conditions, "Established") }

// available also asks whether it is the newest specification that is.
func available(i item) bool {
	return has(i.Status.Conditions, "Available") && i.Status.ObservedGeneration == i.Metadata.Generation &&
		i.Status.UpdatedReplicas > 0 && i.Status.UpdatedReplicas == i.Status.Replicas
}
