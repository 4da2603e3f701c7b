package main

import (
	"context"
	"fmt"
	"net/url"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// coreDeployment is the Deployment of core, which is edited and upgraded.
const coreDeployment = "capi-controller-manager"

// edited is the number of replicas that somebody sets.
const edited = 3

// drifting measures how soon an edit is put right, from the answer to the edit
// to the moment at which a watch shows the object as it was.
func drifting(ctx context.Context, b *bench) ([]sample, error) {
	var samples []sample
	err := b.installedOnce(ctx, func(s *stage, c content) error {
		if err := wait(ctx, restAfter); err != nil {
			return err
		}
		for run := range b.runs {
			one := sample{Objects: c.objects()}
			if err := s.drift(ctx, &one); err != nil {
				return fmt.Errorf("run %d: %w", run+1, err)
			}
			b.say("run %d of %d: %.3f s, %d requests", run+1, b.runs, one.Seconds, one.Requests)
			samples = append(samples, one)
		}
		return nil
	})
	return samples, err
}

func (s *stage) drift(ctx context.Context, one *sample) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, fmt.Errorf("the edit stays"))
	defer cancel()
	mark, err := s.Cluster.Mark(ctx)
	if err != nil {
		return err
	}
	began, err := s.edit(ctx)
	if err != nil {
		return err
	}
	query := url.Values{"fieldSelector": {"metadata.name=" + coreDeployment}}
	err = s.watch(ctx, "/apis/apps/v1/namespaces/"+harness.CAPINamespace+"/deployments", query, func(i item) bool { return i.Spec.Replicas != edited })
	if err != nil {
		return err
	}
	one.Seconds = time.Since(began).Seconds()
	if err := wait(ctx, aftermath); err != nil {
		return err
	}
	all, err := s.requests(ctx, mark)
	if err != nil {
		return err
	}
	return s.costs(one, withoutLease(all))
}

// edit changes the Deployment as an administrator would and returns when that was done.
func (s *stage) edit(ctx context.Context) (time.Time, error) {
	object := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: harness.CAPINamespace, Name: coreDeployment}}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, edited))
	if err := s.Client.Patch(ctx, object, patch, client.FieldOwner("administrator")); err != nil {
		return time.Time{}, fmt.Errorf("editing Deployment %s: %w", coreDeployment, err)
	}
	return time.Now(), nil
}
