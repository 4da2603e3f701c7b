package machines

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

// ClearAttempt deletes all that the attempt has made, and takes the marks off when the API server itself has nothing of it any more.
// It marks that before the first of it is deleted, so that nothing goes on with what is half gone, refuses once the bootstrap is finished,
// and does nothing where nobody asks for it: a row leads on.
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
	d := &doing{}
	if marks, err = s.marking().Clearing(ctx, s.facts.Object); err != nil || !marks.Clears() && marks.Stage() != guards.NoStage {
		return d.until(false, err)
	}
	gone, err := s.takeDown(ctx, func() error { return s.marking().StillClears(ctx, marks) }, d)
	if err == nil && gone {
		err = s.marking().Clear(ctx, marks)
	}
	return d.until(gone, err)
}

// DeleteCluster waits until all workers are gone, whoever made them; then it deletes the control plane, the bootstrap, what was half
// made and Secrets, each when what goes before is gone, and takes the finalizer off last.
func (s *Seen) DeleteCluster(ctx context.Context) (machine.Result, error) {
	if s.look.Plane == nil {
		return machine.Result{}, nil
	}
	d := &doing{}
	if len(s.workers) > 0 {
		return d.until(false, nil)
	}
	if pools, err := s.pools(ctx); err != nil || pools {
		return d.until(false, err)
	}
	gone, err := s.takeDown(ctx, anyway, d)
	if err == nil && gone {
		err = s.letGo(ctx)
	}
	return d.until(gone, err)
}

// until looks again soon as long as something is left.
func (d *doing) until(gone bool, err error) (machine.Result, error) {
	d.waits = d.waits || !gone
	d.meet(err)
	return d.result()
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

// anyway allows a deletion that nothing can make wrong.
func anyway() error { return nil }

// takeDown deletes what was made, in order, and says whether nothing is left of it. Nothing counts as gone that only a cache lacks.
// allowed is asked after each list, and before any of it is deleted: a process that was stopped between may list what another one has
// made by then.
func (s *Seen) takeDown(ctx context.Context, allowed func() error, d *doing) (gone bool, err error) {
	fresh, err := s.afresh(ctx)
	if err == nil {
		err = allowed()
	}
	if err != nil {
		return false, err
	}
	if len(fresh.workers) > 0 && s.facts.Object.Deleting {
		return false, nil
	}
	if len(fresh.masters) > 0 {
		return false, fresh.removeMachines(ctx, fresh.masters, d)
	}
	if fresh.bootstrap != nil {
		return false, fresh.removeMachines(ctx, []*clusterv1.Machine{fresh.bootstrap}, d)
	}
	if gone, err := fresh.removeHalfMade(ctx, "", allowed, d); err != nil || !gone {
		return false, err
	}
	started, err := fresh.controlled(ctx, s.maker.live, jobs)
	if err != nil {
		return false, err
	}
	beside, err := fresh.besideInstallers(ctx, started)
	if err == nil {
		err = allowed()
	}
	if err != nil {
		return false, err
	}
	rest := slices.Concat(beside, started, fresh.secrets)
	for i := range rest {
		if err := fresh.remove(ctx, &rest[i], d); err != nil {
			return false, err
		}
	}
	return len(rest) == 0, nil
}

// removeMachines deletes Machines, without waiting for their members of etcd: all of them go.
func (s *Seen) removeMachines(ctx context.Context, all []*clusterv1.Machine, d *doing) error {
	var errs error
	for _, one := range all {
		errs = errors.Join(errs, s.unbind(ctx, one, d), s.remove(ctx, metaOf(machines, one.ObjectMeta), d))
	}
	return errs
}

// unbind takes off a Machine what its deletion would wait for. Where the OpenShiftControlPlane goes, too, Cluster API drains no Node of
// it; where an attempt is cleared away, that has to be said: its guest may never answer.
func (s *Seen) unbind(ctx context.Context, one *clusterv1.Machine, d *doing) error {
	before := changeable(one)
	delete(one.Annotations, deletionHook)
	if !s.facts.Object.Deleting {
		metav1.SetMetaDataAnnotation(&one.ObjectMeta, clusterv1.ExcludeNodeDrainingAnnotation, "")
		metav1.SetMetaDataAnnotation(&one.ObjectMeta, clusterv1.ExcludeWaitForNodeVolumeDetachAnnotation, "")
	}
	if equality.Semantic.DeepEqual(before, one) {
		return nil
	}
	_, err := s.patch(ctx, one, before, d)
	return err
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
