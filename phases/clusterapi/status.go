package clusterapi

import (
	"context"
	"errors"
	"fmt"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/newest"
)

// writeStatus changes ClusterAPI.status under an optimistic lock, and notes what
// was done. change returns what it did, in words; nothing is written if that is
// nothing. After a conflict it is asked again about the live object, because the
// cache may lag behind what this operator wrote itself.
func (p *Pass) writeStatus(ctx context.Context, change func(*operatorv1alpha1.ClusterAPI) (did []string)) error {
	if p.world.api == nil {
		return nil
	}
	// What the pass has seen may be older than what it has written itself since.
	api, attempt := p.newerOf(p.world.api).DeepCopy(), 0
	try := func() error {
		if attempt++; attempt > 1 {
			if err := p.Live.Get(ctx, client.ObjectKeyFromObject(api), api); err != nil {
				return err
			}
			if api.UID != p.world.api.UID {
				return errors.New("it was deleted and created again since it was looked at")
			}
		}
		did := change(api)
		if len(did) == 0 {
			return nil
		}
		if err := p.Client.Status().Update(ctx, api); err != nil {
			return err
		}
		p.memory.wrote, p.memory.wroteAt = api, p.Now()
		p.did = append(p.did, did...)
		return nil
	}
	var err error
	_ = retry.RetryOnConflict(retry.DefaultRetry, func() error { // which returns no error of a request whose time is over
		err = try()
		return err
	})
	if err != nil {
		return fmt.Errorf("writing the status of ClusterAPI %s: %w", Singleton, err)
	}
	return nil
}

// said is what a change did, nothing if it has changed nothing.
func said(changed bool, format string, arguments ...any) []string {
	if !changed {
		return nil
	}
	return []string{fmt.Sprintf(format, arguments...)}
}

// newerOf is what was written last, while the cache does not show it yet: to plan
// from the past would be to write the same twice.
func (p *Phases) newerOf(cached *operatorv1alpha1.ClusterAPI) *operatorv1alpha1.ClusterAPI {
	if wrote := p.memory.wrote; wrote != nil && newest.WrittenFirst(wrote, cached, p.Now().Sub(p.memory.wroteAt)) {
		return wrote
	}
	return cached
}

// settle asks the API server, when the cache has not shown for long what was
// written last, whether that still stands. The answer takes its place.
func (p *Phases) settle(ctx context.Context, cached *operatorv1alpha1.ClusterAPI) error {
	if wrote := p.memory.wrote; wrote == nil || !newest.Unsettled(wrote, cached, p.Now().Sub(p.memory.wroteAt)) {
		return nil
	}
	live := &operatorv1alpha1.ClusterAPI{}
	found, err := read(ctx, p.Live, client.ObjectKeyFromObject(cached), live)
	if err != nil {
		return err
	}
	if p.memory.wrote = nil; found {
		p.memory.wrote, p.memory.wroteAt = live, p.Now()
	}
	return nil
}

// DesiredOf is the entry with the highest revision number, which status.desiredRevision has to name; nil for none.
func DesiredOf(status *operatorv1alpha1.ClusterAPIStatus) *operatorv1alpha1.ClusterAPIInstallerRevision {
	var desired *operatorv1alpha1.ClusterAPIInstallerRevision
	for i, entry := range status.Revisions {
		if desired == nil || entry.Revision > desired.Revision {
			desired = &status.Revisions[i]
		}
	}
	return desired
}
