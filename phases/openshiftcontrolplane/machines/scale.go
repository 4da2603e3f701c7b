package machines

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

// ScaleMachines creates or deletes one control-plane Machine at a time, and does as in Installed.
func (s *Seen) ScaleMachines(ctx context.Context) (machine.Result, error) {
	return s.change(ctx, false)
}

// ReplaceMachine deletes an unhealthy control-plane Machine, and creates another one in its place when it is gone; it does as in
// Installed.
func (s *Seen) ReplaceMachine(ctx context.Context) (machine.Result, error) {
	return s.change(ctx, true)
}

func (s *Seen) change(ctx context.Context, replaces bool) (machine.Result, error) {
	if s.look.Plane == nil || s.look.Cluster == nil {
		return machine.Result{}, nil
	}
	if err := s.Hold(ctx); err != nil {
		return machine.Result{}, err
	}
	d := &doing{}
	s.keepInstalled(ctx, d)
	s.removeBootstrap(ctx, d)
	if s.hooks() {
		d.meet(s.changeOne(ctx, replaces, d))
	}
	return d.result()
}

// changeOne does one step of a change, of what the API server itself has: two steps at once could take the quorum.
func (s *Seen) changeOne(ctx context.Context, replaces bool, d *doing) error {
	fresh, err := s.afresh(ctx)
	if err != nil {
		return err
	}
	d.waits = true // the guest is not watched
	var goes *clusterv1.Machine
	if replaces {
		goes = fresh.unhealthy()
	}
	half, coming := fresh.halfMade(), fresh.coming()
	switch guards.NextStep(fresh.control(replaces, half, coming, goes)) {
	case guards.MakeWhole:
		_, err = fresh.make(ctx, *half, nil, nil, d)
	case guards.TakeBack:
		_, err = fresh.removeHalfMade(ctx, half.name, anyway, d)
	case guards.MendComing:
		err = fresh.mend(ctx, wanted{name: coming.Name, role: v1alpha1.MasterRole}, coming, d)
	case guards.RemoveComing:
		err = fresh.removeHeld(ctx, coming, d)
	case guards.RemoveUnhealthy:
		err = fresh.removeHeld(ctx, goes, d)
	case guards.MakeAnother:
		_, err = fresh.make(ctx, fresh.wantedMaster(fresh.free()), nil, nil, d)
	case guards.RemoveSurplus:
		err = fresh.removeHeld(ctx, fresh.surplus(), d)
	}
	return err
}

// control is what the next step rests on.
func (s *Seen) control(replaces bool, half *wanted, coming, goes *clusterv1.Machine) guards.Control {
	c := guards.Control{
		Replaces: replaces, Wanted: s.replicas(), All: len(s.masters), Active: s.active(), HalfMade: half != nil,
		Fresh: s.guest.Fresh, Refused: s.refusal(goes),
	}
	if coming != nil {
		c.Coming, c.ComingIsOut = coming.Name, s.isOutOfEtcd(coming)
	}
	if goes != nil {
		c.Unhealthy = goes.Name
	}
	return c
}

// removeHeld asks for the deletion of a control-plane Machine that our hook holds until etcd does without its member. One that lacks the
// hook is given it first, and none is deleted that somebody else has written since.
func (s *Seen) removeHeld(ctx context.Context, one *clusterv1.Machine, d *doing) error {
	if _, held := one.Annotations[deletionHook]; !held {
		before := changeable(one)
		metav1.SetMetaDataAnnotation(&one.ObjectMeta, deletionHook, "")
		if done, err := s.patch(ctx, one, before, d); err != nil || !done {
			return err
		}
	}
	return s.removeIf(ctx, metaOf(machines, one.ObjectMeta), client.Preconditions{UID: &one.UID, ResourceVersion: &one.ResourceVersion}, d)
}
