package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	"golang.org/x/sync/errgroup"

	"github.com/capstan-capi/capstan/e2e/bootworld"
)

// moving measures a wave: the release is complete and its golden images are others, until a watch shows every target with its
// new one. The floor sends the same writes, with the list of targets in hand. Each has a control plane of its own, as in an
// installation.
func moving(w bootWorld) func(context.Context, *bench) ([]sample, error) {
	return func(ctx context.Context, b *bench) ([]sample, error) {
		var samples []sample
		for run := 0; !b.enough(samples); run++ {
			one := sample{Objects: w.targets()}
			floor := func(s *stage) error { return s.floorWave(ctx, &one, w) }
			capstan := func(s *stage) error { return s.wave(ctx, &one, w) }
			turns := []func(*stage) error{floor, capstan}
			for turn := range turns {
				if err := b.onBootImages(ctx, w, turns[(turn+run)%len(turns)]); err != nil {
					return nil, fmt.Errorf("run %d: %w", run+1, err)
				}
			}
			b.say("run %d: %.2f s, the floor %.2f s, %d requests, %.0f MiB", run+1, one.Seconds, one.FloorSeconds, one.Requests, one.RSSMiB)
			samples = append(samples, one)
		}
		return samples, nil
	}
}

// wave is Capstan's.
func (s *stage) wave(ctx context.Context, one *sample, w bootWorld) error {
	metrics, err := s.NewMetrics()
	if err != nil {
		return err
	}
	if err := s.operateBootImages(ctx, metrics, w); err != nil {
		return err
	}
	if err := wait(ctx, restAfter); err != nil {
		return err
	}
	mark, err := s.Cluster.Mark(ctx)
	if err != nil {
		return err
	}
	// The cluster is on its way to the release for a while, as clusters are.
	if err := s.nextRelease(ctx); err != nil {
		return err
	}
	if err := wait(ctx, aftermath); err != nil {
		return err
	}
	one.Seconds, err = s.moved(ctx, w, func(ctx context.Context) error { return s.goes(ctx, configv1.CompletedUpdate) })
	if err != nil {
		return err
	}
	if err := wait(ctx, restAfter); err != nil {
		return err
	}
	all, err := s.requests(ctx, mark)
	if err != nil {
		return err
	}
	return s.costs(one, withoutLease(all))
}

// floorWave is the floor's.
func (s *stage) floorWave(ctx context.Context, one *sample, w bootWorld) error {
	edits, err := s.edits(ctx)
	if err != nil {
		return err
	}
	one.FloorSeconds, err = s.moved(ctx, w, func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(atOnce)
		for _, edit := range edits {
			group.Go(func() error {
				for _, r := range edit {
					if _, err := s.send(ctx, r.method, r.path+"?fieldManager="+floorManager, r.contentType, r.body); err != nil {
						return err
					}
				}
				return nil
			})
		}
		return group.Wait()
	})
	return err
}

// moved begins something, and returns how long it takes until watches show that no target has the image of release 1.
func (s *stage) moved(ctx context.Context, w bootWorld, begin func(context.Context) error) (float64, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("not all targets have the golden image after %s", patience))
	defer cancel()
	if s.operator != nil {
		var stop context.CancelFunc
		ctx, stop = s.operator.Context(ctx)
		defer stop()
	}
	group, ctx := errgroup.WithContext(ctx)
	seen := make(chan struct{}, 2)
	watching := 0
	for _, one := range []struct {
		path  string
		count int
		old   []byte
	}{
		{setsPath, w.machineAPI, []byte(bootworld.AMI(1))},
		{capiSetsPath, w.clusterAPI, []byte(`"name":"` + oldTemplate)},
	} {
		if one.count == 0 {
			continue
		}
		watching++
		shown, done := map[string]bool{}, map[string]bool{}
		group.Go(func() error {
			return s.watch(ctx, one.path, url.Values{}, func(i item) bool {
				shown[i.Metadata.Name], done[i.Metadata.Name] = true, true
				if bytes.Contains(i.Spec, one.old) {
					delete(done, i.Metadata.Name)
				}
				if len(shown) == one.count && len(done) == 0 {
					select {
					case seen <- struct{}{}:
					default:
					}
				}
				return len(done) == one.count
			})
		})
	}
	for range watching { // as soon as all are shown as they were
		select {
		case <-seen:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	began := time.Now()
	group.Go(func() error { return begin(ctx) })
	err := group.Wait()
	return time.Since(began).Seconds(), err
}

// edit is what the floor sends for one target, one after the other.
type edit []writing

type writing struct {
	method, path, contentType string
	body                      []byte
}

// operation is one of a JSON Patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// edits are those that Capstan makes of all targets: a test of what was read, the image, and before that a template of their own
// for those of Cluster API.
func (c *bare) edits(ctx context.Context) ([]edit, error) {
	sets, err := c.list(ctx, setsPath)
	if err != nil {
		return nil, err
	}
	var all []edit
	const spec = "/spec/template/spec"
	for _, set := range sets {
		const image = spec + "/providerSpec/value/ami"
		patch, err := patching(setsPath, set, []operation{
			{"test", image, within(set.Spec, "template.spec.providerSpec.value.ami")}, {"add", image, map[string]any{"id": bootworld.AMI(2)}},
		})
		if err != nil {
			return nil, err
		}
		all = append(all, edit{patch})
	}
	others, err := c.clones(ctx)
	return append(all, others...), err
}

// cloneLabel is on what the operator may create of templates.
const cloneLabel = "capi-operator.openshift.io/boot-image-clone-of"

func (c *bare) clones(ctx context.Context) ([]edit, error) {
	templates, err := c.list(ctx, templatesPath)
	if err != nil {
		return nil, err
	}
	by := map[any]listed{}
	for _, template := range templates {
		by[template.Metadata.Name] = template
	}
	sets, err := c.list(ctx, capiSetsPath)
	if err != nil {
		return nil, err
	}
	var all []edit
	for _, set := range sets {
		reference := within(set.Spec, "template.spec.infrastructureRef").(map[string]any)
		template, name := by[reference["name"]], "floor-"+set.Metadata.Name
		within(template.Spec, "template.spec.ami").(map[string]any)["id"] = bootworld.AMI(2)
		clone := made("infrastructure.cluster.x-k8s.io/v1beta2", "AWSMachineTemplate", name, "", "spec", template.Spec)
		labels := template.Metadata.Labels
		labels[cloneLabel] = set.Metadata.Name // without it, no rights of the operator's are enough
		clone["metadata"].(map[string]any)["labels"] = labels
		body, err := json.Marshal(clone)
		if err != nil {
			return nil, fmt.Errorf("encoding a clone: %w", err)
		}
		const path = "/spec/template/spec/infrastructureRef"
		patch, err := patching(capiSetsPath, set, []operation{{"test", path, reference}, {"add", path + "/name", name}})
		if err != nil {
			return nil, err
		}
		all = append(all, edit{{http.MethodPost, templatesPath, "application/json", body}, patch})
	}
	return all, nil
}

func patching(collection string, set listed, operations []operation) (writing, error) {
	body, err := json.Marshal(append([]operation{{"test", "/metadata/uid", set.Metadata.UID}}, operations...))
	if err != nil {
		return writing{}, fmt.Errorf("encoding a patch: %w", err)
	}
	return writing{http.MethodPatch, collection + "/" + set.Metadata.Name, "application/json-patch+json", body}, nil
}
