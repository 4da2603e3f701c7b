package machines

import (
	"context"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

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
	d.meet(s.removeBootstrap(ctx, d))
	if s.holds() {
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
		_, err := fresh.make(ctx, fresh.wantedMaster(i), nil, nil, d)
		return err
	}
	if one := fresh.coming(); one != nil && (goes == nil || one.Name != goes.Name) {
		return fresh.mend(ctx, wanted{name: one.Name, role: v1alpha1.MasterRole}, one, d)
	}
	if !fresh.guest.Fresh || fresh.refusal(goes) != "" {
		return nil
	}
	switch count := len(fresh.masters); {
	case goes != nil:
		return fresh.remove(ctx, metaOf(machines, goes.ObjectMeta), d)
	case count < fresh.replicas():
		_, err := fresh.make(ctx, fresh.wantedMaster(fresh.free()), nil, nil, d)
		return err
	case count > fresh.replicas() && !replaces:
		return fresh.remove(ctx, metaOf(machines, fresh.surplus().ObjectMeta), d)
	}
	return nil
}
