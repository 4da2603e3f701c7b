package machines

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/machine"
)

// KeepInstalled does what is done with Machines of an installed cluster. Under Handover that is to take off what would hold their
// deletion; under Managed their metadata is kept, too, and hooks are lifted of those that etcd does without.
func (s *Seen) KeepInstalled(ctx context.Context) (machine.Result, error) {
	if s.look.Plane == nil {
		return machine.Result{}, nil
	}
	d := &doing{}
	d.meet(s.Hold(ctx))
	s.keepInstalled(ctx, d)
	s.removeBootstrap(ctx, d)
	return d.result()
}

// HandOver sets who has the say over control-plane Machines: under Handover nothing of ours holds their deletion. Templates that were made
// anew since machines were cloned from them are the Cluster's again; one that is gone holds nothing up.
func (s *Seen) HandOver(ctx context.Context) (machine.Result, error) {
	if s.look.Plane == nil || s.look.Cluster == nil {
		return machine.Result{}, nil
	}
	d := &doing{}
	s.keepInstalled(ctx, d)
	for _, w := range []wanted{s.wantedBootstrap(), s.wantedMaster(0)} {
		if _, err := s.template(ctx, w.template); !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
			d.meet(err)
		}
	}
	return d.result()
}

func (s *Seen) keepInstalled(ctx context.Context, d *doing) {
	if s.isManaged() {
		s.keep(ctx, d)
		return
	}
	for _, one := range s.masters {
		d.meet(s.unhook(ctx, one, d))
	}
}

func (s *Seen) isManaged() bool { return s.look.Plane.Spec.Management == v1alpha1.Managed }

// hooks says that Machines have our hook: those of an installed cluster under Managed.
func (s *Seen) hooks() bool { return s.isManaged() && s.facts.Reached().Finished }

// keep puts in place what may change in place, and says of each Machine that it is up to date.
func (s *Seen) keep(ctx context.Context, d *doing) {
	all := slices.Clone(s.masters)
	if s.bootstrap != nil {
		all = append(all, s.bootstrap)
	}
	for _, one := range all {
		switch {
		case one.DeletionTimestamp.IsZero():
			d.meet(s.keepOne(ctx, one, d))
		case !s.hooks() || s.guest.Fresh && s.isOutOfEtcd(one):
			d.meet(s.unhook(ctx, one, d))
		default:
			d.waits = true // it is no news of the guest that what was read before is still so
		}
	}
}

func (s *Seen) keepOne(ctx context.Context, one *clusterv1.Machine, d *doing) error {
	role := v1alpha1.MasterRole
	if one == s.bootstrap {
		role = v1alpha1.BootstrapRole
	}
	before := changeable(one)
	had := formerly(one)
	s.settle(one, role)
	if !equality.Semantic.DeepEqual(before.Labels, one.Labels) || !equality.Semantic.DeepEqual(before.Annotations, one.Annotations) {
		// These first: what the Machine notes is what they have been given.
		if err := s.dressOthers(ctx, one, role, had); err != nil {
			return err
		}
	}
	if !equality.Semantic.DeepEqual(before, one) {
		if done, err := s.patch(ctx, one, before, d); err != nil || !done {
			return err
		}
		d.note("updated", machineKind, client.ObjectKeyFromObject(one))
	}
	return s.tellUpToDate(ctx, one, d)
}

// tellUpToDate says of a Machine that it is up to date. Cluster API writes to the status of one that comes up again and again: what is said
// is added to whatever conditions there are by then, and nothing is said before the first of them, of which an event tells.
func (s *Seen) tellUpToDate(ctx context.Context, one *clusterv1.Machine, d *doing) error {
	is := metav1.Condition{
		Type: clusterv1.MachineUpToDateCondition, Status: metav1.ConditionTrue, Reason: clusterv1.MachineUpToDateReason,
		LastTransitionTime: metav1.NewTime(s.maker.now()), ObservedGeneration: one.Generation,
	}
	patch := client.MergeFromWithOptions(changeable(one), client.MergeFromWithOptimisticLock{})
	switch said := meta.FindStatusCondition(one.Status.Conditions, is.Type); {
	case len(one.Status.Conditions) == 0:
		return nil
	case said != nil && said.Status == is.Status:
		s.maker.told.forget(one.UID)
		return nil
	case said != nil: // somebody has denied it
		meta.SetStatusCondition(&one.Status.Conditions, is)
	case s.maker.told.has(one.UID, s.maker.now()):
		d.waits = true
		return nil
	default:
		added, err := json.Marshal([]any{
			map[string]any{"op": "test", "path": "/metadata/uid", "value": one.UID},
			map[string]any{"op": "add", "path": "/status/conditions/-", "value": is},
		})
		if err != nil {
			return fmt.Errorf("updating Machine %s: %w", client.ObjectKeyFromObject(one), err)
		}
		patch = client.RawPatch(types.JSONPatchType, added)
	}
	err := s.maker.client.Status().Patch(ctx, one, patch)
	if apierrors.IsInvalid(err) { // somebody was quicker: there is another Machine of the name, or this very condition
		d.waits = true
		return nil
	}
	done, err := d.patched(one, err)
	if done {
		s.maker.told.note(one.UID, s.maker.now())
	}
	return err
}

// unhook lifts our hook off a Machine.
func (s *Seen) unhook(ctx context.Context, one *clusterv1.Machine, d *doing) error {
	if _, has := one.Annotations[deletionHook]; !has {
		return nil
	}
	before := changeable(one)
	delete(one.Annotations, deletionHook)
	delete(one.Annotations, nodeAddresses)
	_, err := s.patch(ctx, one, before, d)
	return err
}

// changeable has a Machine be one that may be changed, and returns it as it is.
func changeable(one *clusterv1.Machine) (before *clusterv1.Machine) {
	shared := *one
	*one = *shared.DeepCopy()
	return &shared
}

// patch writes what has changed of a Machine since it was read, unless another one has written since.
func (s *Seen) patch(ctx context.Context, one, before *clusterv1.Machine, d *doing) (done bool, err error) {
	return d.patched(one, s.maker.client.Patch(ctx, one, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

// patched takes up what has come of a patch: where somebody else has written, it is done later.
func (d *doing) patched(one *clusterv1.Machine, err error) (done bool, _ error) {
	switch {
	case err == nil:
		return true, nil
	case apierrors.IsNotFound(err):
		return false, nil
	case apierrors.IsConflict(err):
		d.waits = true
		return false, nil
	}
	return false, fmt.Errorf("updating Machine %s: %w", client.ObjectKeyFromObject(one), err)
}
