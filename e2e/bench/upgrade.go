package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// coreDeployment is the Deployment of core, which a release changes.
const coreDeployment = "capi-controller-manager"

// flagOfCore is an argument of core's manager; the one after it is what a release changes.
const flagOfCore = "        - --leader-elect\n"

// changed is core and AWS with another argument in core's Deployment, and nothing else.
func (b *bench) changed(ctx context.Context, verbosity int) (content, error) {
	profiles, err := b.realProfiles(ctx, coreAWS)
	if err != nil {
		return content{}, err
	}
	for i, profile := range profiles {
		if profile.Component != providers.Core {
			continue
		}
		profiles[i], err = b.derive(profile, fmt.Sprintf("upgrade-%d", verbosity), func(file string, text []byte) ([]byte, error) {
			if file != "manifests.yaml" {
				return text, nil
			}
			if bytes.Count(text, []byte(flagOfCore)) != 1 {
				return nil, errors.New("the Deployment of core has no argument to change")
			}
			return bytes.ReplaceAll(text, []byte(flagOfCore), fmt.Appendf(nil, "%s        - --v=%d\n", flagOfCore, verbosity)), nil
		})
		if err != nil {
			return content{}, err
		}
	}
	return b.render(ctx, profiles)
}

// upgrading measures upgrades that follow each other, each to a release that
// changes one Deployment; the floor applies the same contents, in turns with
// Capstan, on a control plane of its own. The images are not cached, as those of
// a new release are not.
func upgrading(ctx context.Context, b *bench) ([]sample, error) {
	before, err := realContent(coreAWS)(ctx, b)
	if err != nil {
		return nil, err
	}
	var samples []sample
	return samples, b.within(ctx, func(floor *stage) error {
		if _, err := floor.floor(ctx, before.components); err != nil {
			return fmt.Errorf("the floor: %w", err)
		}
		return b.within(ctx, func(s *stage) error {
			s.cache = ""
			if err := s.install(ctx, before); err != nil {
				return err
			}
			for run := 0; !b.enough(samples); run++ {
				one, err := upgradeBoth(ctx, floor, s, run)
				if err != nil {
					return fmt.Errorf("run %d: %w", run+1, err)
				}
				b.say("run %d: %.2f s, the floor %.2f s, %d requests, %d writes", run+1, one.Seconds, one.FloorSeconds, one.Requests, one.Writes)
				samples = append(samples, one)
			}
			return nil
		})
	})
}

func upgradeBoth(ctx context.Context, floor, s *stage, run int) (sample, error) {
	one := sample{}
	next, err := s.bench.changed(ctx, run+1)
	if err != nil {
		return one, err
	}
	turns := []func() error{
		func() error { return floor.floorInto(ctx, &one, next) },
		func() error { return s.upgrade(ctx, &one, next) },
	}
	for turn := range turns {
		if err := turns[(turn+run)%len(turns)](); err != nil {
			return one, err
		}
	}
	return one, nil
}

func (s *stage) upgrade(ctx context.Context, one *sample, c content) error {
	references, err := s.push(ctx, c)
	if err != nil {
		return err
	}
	if err := wait(ctx, aftermath); err != nil {
		return err
	}
	mark, err := s.Cluster.Mark(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := s.SetImages(ctx, references); err != nil {
		return err
	}
	at, err := s.installed(ctx, began)
	if err != nil {
		return err
	}
	one.Objects, one.Seconds = c.objects(), at.Sub(began).Seconds()
	if err := wait(ctx, aftermath); err != nil {
		return err
	}
	all, err := s.requests(ctx, mark)
	if err != nil {
		return err
	}
	one.rewrites = mostWrites(all, c)
	return s.costs(one, all)
}

// mostWrites is how often the object of a content was written that was written
// most, the Deployment that changes left out.
func mostWrites(all cluster.RequestList, c content) int {
	count := map[string]int{}
	for _, request := range all.Writes() {
		path, _, _ := bytes.Cut([]byte(request.RequestURI), []byte("?"))
		count[string(path)]++
	}
	most := 0
	for _, component := range c.components {
		for _, o := range append(component.crds, component.rest...) {
			if o.kind != "Deployment" || o.name != coreDeployment {
				most = max(most, count[o.path])
			}
		}
	}
	return most
}
