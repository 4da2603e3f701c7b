package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// coreRole is the Role of core that somebody takes all rules from. No controller
// writes Roles, so that nobody but the operator answers.
const coreRole = "capi-leader-election-role"

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
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("the edit stays"))
	defer cancel()
	mark, err := s.Cluster.Mark(ctx)
	if err != nil {
		return err
	}
	began, err := s.edit(ctx)
	if err != nil {
		return err
	}
	query := url.Values{"fieldSelector": {"metadata.name=" + coreRole}}
	err = s.watch(ctx, "/apis/rbac.authorization.k8s.io/v1/namespaces/"+harness.CAPINamespace+"/roles", query, func(i item) bool { return len(i.Rules) > 0 })
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

// edit changes the Role as an administrator would and returns when that was done.
func (s *stage) edit(ctx context.Context) (time.Time, error) {
	object := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: harness.CAPINamespace, Name: coreRole}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"rules":[]}`))
	if err := s.Client.Patch(ctx, object, patch, client.FieldOwner("administrator")); err != nil {
		return time.Time{}, fmt.Errorf("editing Role %s: %w", coreRole, err)
	}
	return time.Now(), nil
}
