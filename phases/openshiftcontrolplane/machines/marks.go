package machines

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

// MarkInitialized writes the mark that the guest's API has answered, and returns when the API server has it.
func (s *Seen) MarkInitialized(ctx context.Context) (machine.Result, error) {
	return s.advance(ctx, guards.Marks{Initialized: true})
}

// MarkFinished writes the mark that the guest does without its bootstrap Machine, and returns when the API server has it.
func (s *Seen) MarkFinished(ctx context.Context) (machine.Result, error) {
	return s.advance(ctx, guards.Marks{Finished: true})
}

func (s *Seen) advance(ctx context.Context, marks guards.Marks) (machine.Result, error) {
	if s.look.Plane == nil {
		return machine.Result{}, nil
	}
	_, err := s.marking().By(s.look.Plane).Advance(ctx, marks)
	return machine.Result{}, err
}

// Hold sets the finalizer that keeps the OpenShiftControlPlane until all that was made for it is gone. It has to be there before
// anything is made, and is a request only where it is not.
func (s *Seen) Hold(ctx context.Context) error {
	if s.look.Plane == nil || controllerutil.ContainsFinalizer(s.look.Plane, v1alpha1.Finalizer) || !s.look.Plane.DeletionTimestamp.IsZero() {
		return nil
	}
	return s.marking().By(s.look.Plane).Change(ctx, func(plane *v1alpha1.OpenShiftControlPlane) error {
		return s.patchFinalizer(ctx, plane, controllerutil.AddFinalizer)
	})
}

// letGo takes the finalizer off, and with it goes the OpenShiftControlPlane.
func (s *Seen) letGo(ctx context.Context) error {
	if !controllerutil.ContainsFinalizer(s.look.Plane, v1alpha1.Finalizer) {
		return nil
	}
	return client.IgnoreNotFound(s.patchFinalizer(ctx, s.look.Plane.DeepCopy(), controllerutil.RemoveFinalizer))
}

func (s *Seen) patchFinalizer(ctx context.Context, plane *v1alpha1.OpenShiftControlPlane, change func(client.Object, string) bool) error {
	before := plane.DeepCopy()
	if !change(plane, v1alpha1.Finalizer) {
		return nil
	}
	if err := s.maker.client.Patch(ctx, plane, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("changing the finalizers of OpenShiftControlPlane %s: %w", client.ObjectKeyFromObject(plane), err)
	}
	return nil
}
