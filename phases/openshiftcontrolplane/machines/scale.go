package machines

import (
	"context"
	"errors"

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
	var did []string
	errs := errors.Join(s.keepInstalled(ctx, &did), s.removeBootstrap(ctx, &did))
	if s.holds() {
		errs = errors.Join(errs, s.changeOne(ctx, replaces, &did))
	}
	return done(did, errs)
}

// changeOne does one step of a change, of what the API server itself has: two steps at once could take the quorum.
func (s *Seen) changeOne(ctx context.Context, replaces bool, did *[]string) error {
	fresh, err := s.afresh(ctx)
	if err != nil {
		return err
	}
	if i, half := fresh.halfMade(); half {
		return fresh.make(ctx, fresh.wantedMaster(i), nil, nil, did)
	}
	for _, one := range fresh.masters {
		if one.DeletionTimestamp.IsZero() && !one.Status.NodeRef.IsDefined() { // on its way
			return fresh.whole(ctx, wanted{name: one.Name, role: v1alpha1.MasterRole}, one, did)
		}
	}
	goes := fresh.unhealthy()
	if !replaces {
		goes = nil
	}
	if fresh.refusal(goes) != "" {
		return nil
	}
	switch count := len(fresh.masters); {
	case goes != nil:
		return fresh.remove(ctx, metaOf(machines, goes.ObjectMeta), did)
	case count < fresh.replicas():
		return fresh.make(ctx, fresh.wantedMaster(fresh.free()), nil, nil, did)
	case count > fresh.replicas() && !replaces:
		return fresh.remove(ctx, metaOf(machines, fresh.surplus().ObjectMeta), did)
	}
	return nil
}
