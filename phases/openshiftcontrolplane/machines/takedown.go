package machines

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/machine"
)

// ClearAttempt deletes all that the attempt has made, and takes the marks off when the API server itself has nothing of it any more.
// It refuses once the bootstrap is finished.
func (s *Seen) ClearAttempt(ctx context.Context) (machine.Result, error) {
	if s.look.Plane == nil {
		return machine.Result{}, nil
	}
	marks, _, err := s.marking().Read(ctx)
	if err != nil {
		return machine.Result{}, err
	}
	if marks.Advance(s.facts.Noted).Finished {
		return machine.Result{}, machine.Terminal(errors.New("clearing the attempt: its bootstrap is finished"))
	}
	var did []string
	gone, err := s.takeDown(ctx, &did)
	if err == nil && gone {
		err = s.marking().Clear(ctx)
	}
	return s.takenDown(did, gone, err)
}

// DeleteCluster waits until all workers are gone, whoever made them; then it deletes the control plane, the bootstrap, what was half
// made and Secrets, each when what goes before is gone, and takes the finalizer off last.
func (s *Seen) DeleteCluster(ctx context.Context) (machine.Result, error) {
	if s.look.Plane == nil {
		return machine.Result{}, nil
	}
	var did []string
	if len(s.workers) > 0 {
		return s.takenDown(did, false, nil)
	}
	if pools, err := s.pools(ctx); err != nil || pools {
		return s.takenDown(did, false, err)
	}
	gone, err := s.takeDown(ctx, &did)
	if err == nil && gone {
		err = s.release(ctx)
	}
	return s.takenDown(did, gone, err)
}

func (s *Seen) takenDown(did []string, gone bool, err error) (machine.Result, error) {
	result, err := done(did, err)
	if !gone && err == nil {
		result.LookAgain = soon
	}
	return result, err
}

// pools says whether the Cluster has MachinePools, which are workers, too.
func (s *Seen) pools(ctx context.Context) (bool, error) {
	kind, served, err := s.served(machinePools.GroupKind())
	if err != nil || !served || s.cluster == "" {
		return false, err
	}
	all, err := s.listed(ctx, s.maker.live, kind, func(*metav1.PartialObjectMetadata) bool { return true })
	return len(all) > 0, err
}

// takeDown deletes what was made, in order, and says whether nothing is left of it. Nothing counts as gone that only a cache lacks.
func (s *Seen) takeDown(ctx context.Context, did *[]string) (gone bool, err error) {
	fresh, err := s.afresh(ctx)
	if err != nil {
		return false, err
	}
	if len(fresh.workers) > 0 && s.facts.Object.Deleting {
		return false, nil
	}
	if len(fresh.masters) > 0 {
		return false, fresh.removeMachines(ctx, fresh.masters, did)
	}
	if fresh.bootstrap != nil {
		return false, fresh.removeMachines(ctx, []*clusterv1.Machine{fresh.bootstrap}, did)
	}
	if gone, err := fresh.removeHalfMade(ctx, "", did); err != nil || !gone {
		return false, err
	}
	started, err := fresh.controlled(ctx, s.maker.live, jobs)
	if err != nil {
		return false, err
	}
	rest := slices.Concat(started, fresh.secrets)
	for i := range rest {
		if err := fresh.remove(ctx, &rest[i], did); err != nil {
			return false, err
		}
	}
	return len(rest) == 0, nil
}

// removeMachines deletes Machines, without waiting for their members of etcd: all of them go.
func (s *Seen) removeMachines(ctx context.Context, all []*clusterv1.Machine, did *[]string) error {
	var errs error
	for _, one := range all {
		errs = errors.Join(errs, s.setHook(ctx, one, false), s.remove(ctx, metaOf(machines, one.ObjectMeta), did))
	}
	return errs
}

// afresh is the same look with lists of the API server itself.
func (s *Seen) afresh(ctx context.Context) (*Seen, error) {
	facts := *s.facts
	fresh := newSeen(s.maker, s.look, &facts)
	fresh.cluster = s.cluster
	if err := fresh.list(ctx, s.maker.live); err != nil {
		return nil, fmt.Errorf("looking live: %w", err)
	}
	fresh.tell()
	fresh.Hear(s.guest)
	return fresh, nil
}
