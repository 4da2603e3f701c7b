package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// codeChanges is how capstan plan ends when there is something to do.
const codeChanges = 2

// planning measures what an administrator waits for a plan of a content that is put in the place of the cluster's images, which are
// in his cache. What is there is brought by before: an installed release, or nothing.
func planning(before func(context.Context, *stage) (content, error)) func(context.Context, *bench) ([]sample, error) {
	return func(ctx context.Context, b *bench) ([]sample, error) {
		var samples []sample
		return samples, b.within(ctx, func(s *stage) error {
			next, err := before(ctx, s)
			if err != nil {
				return err
			}
			references, err := s.push(ctx, next)
			if err != nil {
				return err
			}
			arguments, err := s.planArguments(references)
			if err != nil {
				return err
			}
			if _, err := s.plan(ctx, arguments); err != nil { // the images are in the cache from now on
				return err
			}
			for run := range b.runs {
				one := sample{Objects: next.objects()}
				if one.Seconds, err = s.plan(ctx, arguments); err != nil {
					return fmt.Errorf("run %d: %w", run+1, err)
				}
				b.say("run %d of %d: %.2f s", run+1, b.runs, one.Seconds)
				samples = append(samples, one)
			}
			return nil
		})
	}
}

// planArguments are those of a plan by an administrator.
func (s *stage) planArguments(references map[string]string) ([]string, error) {
	kubeconfig, err := s.Cluster.KubeconfigFor("bench-administrator", "system:masters")
	if err != nil {
		return nil, err
	}
	arguments := []string{"plan", "--kubeconfig", kubeconfig, "--cache-dir", filepath.Join(s.Cluster.Dir(), "planned"), "-o", "name"}
	for _, component := range slices.Sorted(maps.Keys(references)) {
		arguments = append(arguments, "--image", references[component])
	}
	return arguments, nil
}

// plan returns how many seconds the command took.
func (s *stage) plan(ctx context.Context, arguments []string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var said bytes.Buffer
	command := exec.CommandContext(ctx, filepath.Join(s.bench.bin, "capstan"), arguments...)
	command.Stdout, command.Stderr = &said, &said
	began := time.Now()
	err := command.Run()
	took := time.Since(began).Seconds()
	if ended, is := errors.AsType[*exec.ExitError](err); !is || ended.ExitCode() != codeChanges {
		return 0, fmt.Errorf("capstan plan found no change: %w\n%s", errors.Join(err), said.String())
	}
	return took, nil
}

// changedCore is core and AWS, installed, and a release that changes one Deployment.
func changedCore(ctx context.Context, s *stage) (content, error) {
	there, err := realContent(coreAWS)(ctx, s.bench)
	if err != nil {
		return content{}, err
	}
	if err := s.install(ctx, there); err != nil {
		return content{}, err
	}
	return s.bench.changed(ctx, 1)
}

// plannedObjects is how many made-up objects the larger plan has.
const plannedObjects = 500

// allNew is an empty cluster, and a content of which every object is new: each is tried that can be.
func allNew(ctx context.Context, s *stage) (content, error) {
	next, err := syntheticContent(plannedObjects)(ctx, s.bench)
	if err != nil {
		return content{}, err
	}
	return next, s.world(ctx, next)
}
