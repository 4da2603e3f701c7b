package hosted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// fieldManager is what requests of people are written as.
const fieldManager = "capstan-act"

// lookEvery is how often all HostedClusters are listed while the operator is waited for.
const lookEvery = 500 * time.Millisecond

// triesToWrite is how often a write is bound to a newer version: HyperShift writes its HostedClusters often.
const triesToWrite = 5

// Write does what a plan says, bound to the version that was seen, or to a newer one of which the plan would be the same. With try
// the API server says whether it would take it, and stores nothing.
func (c *Cluster) Write(ctx context.Context, plan Plan, try bool) error {
	object := "ConfigMap " + c.namespace + "/" + guards.ProgrammeName
	if plan.patch.key != "" {
		object = "HostedCluster " + string(plan.patch.key)
	}
	for range triesToWrite {
		err := c.write(ctx, plan.patch, try)
		if !apierrors.IsConflict(err) {
			return inspect.Explain(err, c.host, "patch", object)
		}
		now, err := c.Look(ctx)
		if err != nil {
			return err
		}
		fresh, err := now.Plan(plan.Does, plan.patch.key)
		if err != nil {
			return err
		}
		if fresh.Nothing != "" || fresh.Shows != plan.Shows {
			break
		}
		plan.patch.version = fresh.patch.version
	}
	return &inspect.Error{What: object + " was changed since it was looked at, and nothing was written", Next: "run it again"}
}

func (c *Cluster) write(ctx context.Context, p change, try bool) error {
	namespace, name, kind := c.namespace, guards.ProgrammeName, configMaps
	body := map[string]any{"metadata": map[string]any{"resourceVersion": p.version}, "data": map[string]any{p.name: p.value}}
	if p.key != "" {
		namespace, name = phases.Split(p.key)
		kind = hostedClusters
		body = map[string]any{"metadata": map[string]any{"resourceVersion": p.version, "annotations": map[string]any{p.name: p.value}}}
	}
	patch, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("writing a patch: %w", err)
	}
	options := metav1.PatchOptions{FieldManager: fieldManager}
	if try {
		options.DryRun = []string{metav1.DryRunAll}
	}
	_, err = c.dynamic.Resource(kind).Namespace(namespace).Patch(ctx, name, types.MergePatchType, patch, options)
	return err
}

// Wait waits until the operator says that it has seen an act, or why it will not do it, and returns what it says of the one
// HostedCluster. A request that is under way when the time is over comes to its end.
func (c *Cluster) Wait(ctx context.Context, plan Plan, timeout time.Duration) (says string, err error) {
	over := time.NewTimer(timeout)
	defer over.Stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		now, unread := c.list(ctx)
		if unread == nil {
			if h, err := now.find(plan.patch.key); err == nil {
				says = h.Said.Reason
			}
			if done, refused := plan.heard(now.Clusters); done || refused != nil {
				return says, refused
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return says, ctx.Err()
		case <-over.C:
			running := inspect.Running(ctx, c.leases, c.clock, c.namespace, c.lease)
			return says, errors.Join(fmt.Errorf("the operator has not said within %s what it makes of it: %s", timeout, running), unread)
		}
	}
}
