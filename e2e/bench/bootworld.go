package main

import (
	"context"
	"fmt"
	"time"

	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/e2e/bootworld"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// bootImagesOf is the argument that turns boot images on, and enrolled are fields of a MachineConfiguration that enrol every
// target of Cluster API; the Machine API's are, on AWS, where nobody has said otherwise.
const (
	bootImagesOf = "--boot-images=MachineAPI,ClusterAPI"
	enrolled     = "{metadata: {annotations: {" + bootworld.BySets + ": All, " + bootworld.ByDeployments + ": All}}, spec: {managementState: Managed}}"
)

// bootWorld is how many targets a cluster has of each API.
type bootWorld struct{ machineAPI, clusterAPI int }

func (w bootWorld) targets() int { return w.machineAPI + w.clusterAPI }

// onBootImages runs a measurement on a fresh control plane on AWS whose release is complete, and whose targets have the boot
// image of release 1. There is no operator yet.
func (b *bench) onBootImages(ctx context.Context, w bootWorld, measure func(*stage) error) error {
	definitions, _, err := bootworld.Definitions(ctx)
	if err != nil {
		return err
	}
	return b.on(ctx, definitions, func(s *stage) error {
		if s.moving, err = bootworld.Begin(ctx, s.Environment, bootworld.World{Platform: configv1.AWSPlatformType, Config: enrolled}); err != nil {
			return fmt.Errorf("putting in place what boot images need: %w", err)
		}
		if err := s.makeTargets(ctx, w); err != nil {
			return fmt.Errorf("putting targets of boot images in place: %w", err)
		}
		return measure(s)
	})
}

// goes has the cluster be at release 2, or on its way to it.
func (s *stage) goes(ctx context.Context, state configv1.UpdateState) error {
	return s.moving.History(ctx, state, s.moving.Version(2), s.moving.Version(1), bootworld.Installed)
}

// operateBootImages starts the operator and waits until every target is Current, by its metrics, from a moment on.
func (s *stage) operateBootImages(ctx context.Context, metrics *harness.Metrics, w bootWorld) error {
	if err := s.operate(append(metrics.Arguments(), bootImagesOf)...); err != nil {
		return err
	}
	return s.allCurrent(ctx, metrics, w)
}

// askEvery is how often the operator is asked how many targets are Current.
const askEvery = time.Second / 5

func (s *stage) allCurrent(ctx context.Context, metrics *harness.Metrics, w bootWorld) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("not all targets are Current after %s", patience))
	defer cancel()
	ctx, stop := s.operator.Context(ctx)
	defer stop()
	for {
		text, err := metrics.Text(ctx)
		if err == nil && int(sumOf(text, "capstan_boot_image_targets", `state="Current"`)) == w.targets() {
			return nil
		}
		if err := wait(ctx, askEvery); err != nil {
			return err
		}
	}
}
