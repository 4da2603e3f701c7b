package machines

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	var did []string
	return done(did, errors.Join(s.keepInstalled(ctx, &did), s.removeBootstrap(ctx, &did)))
}

// HandOver sets who has the say over control-plane Machines: under Handover nothing of ours holds their deletion.
func (s *Seen) HandOver(ctx context.Context) (machine.Result, error) {
	if s.look.Plane == nil {
		return machine.Result{}, nil
	}
	var did []string
	return done(did, s.keepInstalled(ctx, &did))
}

func (s *Seen) keepInstalled(ctx context.Context, did *[]string) error {
	if s.isManaged() {
		return s.keep(ctx, did)
	}
	var errs error
	for _, one := range s.masters {
		errs = errors.Join(errs, s.setHook(ctx, one, false))
	}
	return errs
}

func (s *Seen) isManaged() bool { return s.look.Plane.Spec.Management == v1alpha1.Managed }

// holds says that Machines have our hook: those of an installed cluster under Managed.
func (s *Seen) holds() bool { return s.isManaged() && s.facts.Reached().Finished }

// keep puts in place what may change in place, and says of each Machine that it is up to date.
func (s *Seen) keep(ctx context.Context, did *[]string) error {
	all := slices.Clone(s.masters)
	if s.bootstrap != nil {
		all = append(all, s.bootstrap)
	}
	var errs error
	for _, one := range all {
		if one.DeletionTimestamp.IsZero() {
			errs = errors.Join(errs, s.keepOne(ctx, one, did))
		} else if !s.holds() || s.isOutOfEtcd(one) {
			errs = errors.Join(errs, s.setHook(ctx, one, false))
		}
	}
	return errs
}

func (s *Seen) keepOne(ctx context.Context, one *clusterv1.Machine, did *[]string) error {
	role := v1alpha1.MasterRole
	if one == s.bootstrap {
		role = v1alpha1.BootstrapRole
	}
	before := one.DeepCopy()
	s.settle(one, role)
	if !equality.Semantic.DeepEqual(before, one) {
		if err := s.patch(ctx, one, before); err != nil {
			return err
		}
		*did = append(*did, "updated Machine "+one.Name)
	}
	if meta.IsStatusConditionTrue(one.Status.Conditions, clusterv1.MachineUpToDateCondition) {
		return nil
	}
	before = one.DeepCopy()
	meta.SetStatusCondition(&one.Status.Conditions, metav1.Condition{
		Type: clusterv1.MachineUpToDateCondition, Status: metav1.ConditionTrue, Reason: clusterv1.MachineUpToDateReason,
		LastTransitionTime: metav1.NewTime(s.maker.now()), ObservedGeneration: one.Generation,
	})
	err := s.maker.client.Status().Patch(ctx, one, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	return patched(one, err)
}

// setHook sets our hook on a Machine, or lifts it.
func (s *Seen) setHook(ctx context.Context, one *clusterv1.Machine, is bool) error {
	if _, has := one.Annotations[hook]; has == is {
		return nil
	}
	before := one.DeepCopy()
	if is {
		metav1.SetMetaDataAnnotation(&one.ObjectMeta, hook, "")
	} else {
		delete(one.Annotations, hook)
	}
	return s.patch(ctx, one, before)
}

// patch writes what has changed of a Machine since it was read, unless another one has written since.
func (s *Seen) patch(ctx context.Context, one, before *clusterv1.Machine) error {
	return patched(one, s.maker.client.Patch(ctx, one, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

func patched(one *clusterv1.Machine, err error) error {
	switch {
	case err == nil || apierrors.IsNotFound(err):
		return nil
	case apierrors.IsConflict(err):
		return fmt.Errorf("updating Machine %s: %w: %w", client.ObjectKeyFromObject(one), errLater, err)
	}
	return fmt.Errorf("updating Machine %s: %w", client.ObjectKeyFromObject(one), err)
}

// isOutOfEtcd says that etcd has no member on a Machine. While nobody knows that, it may have one.
func (s *Seen) isOutOfEtcd(one *clusterv1.Machine) bool {
	if !s.guest.Etcd.Known {
		return false
	}
	return !slices.ContainsFunc(one.Status.Addresses, func(at clusterv1.MachineAddress) bool {
		return slices.Contains(s.guest.Etcd.Endpoints, at.Address)
	})
}
