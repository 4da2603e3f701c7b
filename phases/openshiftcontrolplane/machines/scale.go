package machines

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
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
	var goes *clusterv1.Machine
	if replaces {
		goes = fresh.unhealthy()
	}
	d.waits = true // the guest is not watched
	if i, half := fresh.halfMade(); half {
		w := fresh.wantedMaster(i)
		if fresh.active() >= fresh.replicas() {
			_, err := fresh.removeHalfMade(ctx, w.name, d)
			return err
		}
		_, err := fresh.make(ctx, w, nil, nil, d)
		return err
	}
	if one := fresh.coming(); one != nil && (goes == nil || one.Name != goes.Name) {
		if replaces || fresh.active() <= fresh.replicas() {
			return fresh.mend(ctx, wanted{name: one.Name, role: v1alpha1.MasterRole}, one, d)
		}
		if fresh.guest.Fresh && fresh.isOutOfEtcd(one) { // whatever is the matter with the others, they do without it
			return fresh.removeHeld(ctx, one, d)
		}
	}
	if !fresh.guest.Fresh || fresh.refusal(goes) != "" {
		return nil
	}
	switch count := len(fresh.masters); {
	case goes != nil:
		return fresh.removeHeld(ctx, goes, d)
	case count < fresh.replicas():
		_, err := fresh.make(ctx, fresh.wantedMaster(fresh.free()), nil, nil, d)
		return err
	case count > fresh.replicas() && !replaces:
		return fresh.removeHeld(ctx, fresh.surplus(), d)
	}
	return nil
}

// removeHeld asks for the deletion of a control-plane Machine that our hook holds until etcd does without its member. One that lacks the
// hook is given it first, and none is deleted that somebody else has written since.
func (s *Seen) removeHeld(ctx context.Context, one *clusterv1.Machine, d *doing) error {
	if _, held := one.Annotations[deletionHook]; !held {
		before := one.DeepCopy()
		metav1.SetMetaDataAnnotation(&one.ObjectMeta, deletionHook, "")
		if done, err := s.patch(ctx, one, before, d); err != nil || !done {
			return err
		}
	}
	return s.removeIf(ctx, metaOf(machines, one.ObjectMeta), client.Preconditions{UID: &one.UID, ResourceVersion: &one.ResourceVersion}, d)
}
