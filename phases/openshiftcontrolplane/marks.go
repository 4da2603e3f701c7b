package openshiftcontrolplane

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/records"
)

// The marks, in the order in which they are set.
const (
	inputsMark      = records.Mark(v1alpha1.InputsMark)
	bootstrapMark   = records.Mark(v1alpha1.BootstrapMark)
	initializedMark = records.Mark(v1alpha1.InitializedMark)
	finishedMark    = records.Mark(v1alpha1.BootstrapFinishedMark)
	clearingMark    = records.Mark(v1alpha1.ClearingMark)
	servedMark      = records.Mark(v1alpha1.ServedMark)
)

// set is the value of a mark that is there or not.
const set = "true"

// MarksOf are the marks in an object's annotations. One that is there or not counts whatever its value is: a mark that somebody has
// spoilt must not allow what it forbids.
func MarksOf(object client.Object) guards.Marks {
	annotations := object.GetAnnotations()
	_, initialized := annotations[v1alpha1.InitializedMark]
	_, finished := annotations[v1alpha1.BootstrapFinishedMark]
	return guards.Marks{
		Inputs: inputsMark.On(object), Bootstrap: bootstrapMark.On(object), Initialized: initialized, Finished: finished,
		Clearing: clearingMark.On(object),
	}
}

// Marking writes the marks of one OpenShiftControlPlane.
type Marking struct {
	Client client.Client
	// Live reads from the API server itself, and not from a cache.
	Live client.Reader
	Key  client.ObjectKey
	// UID is that of the object that the pass has seen: another one of the name is not marked.
	UID string
	// cached is that of By, nil for none.
	cached *v1alpha1.OpenShiftControlPlane
	// attempt is that of Of, empty for any.
	attempt string
}

// Of has marks advanced, and Now tell them, for one attempt only, as its ID names it: it is a conflict where another one has begun. None is
// named while the inputs are not frozen.
func (m Marking) Of(attempt string) Marking {
	m.attempt = attempt
	return m
}

// By has the marks written bound to the version of the object that the pass has loaded, most often the newest, and the object read only if
// the API server refuses that, or if nothing is to be written by it. It is not for marks of the bootstrap Machine, which are decided by what
// the API server has now.
func (m Marking) By(cached *v1alpha1.OpenShiftControlPlane) Marking {
	m.cached = cached
	return m
}

// Change has a change made of the object: by the one of By, and if there is none, or the API server answers with a conflict, by the one that
// it has now. A change is to be bound to the version of what it is given, which is its own copy.
func (m Marking) Change(ctx context.Context, change func(*v1alpha1.OpenShiftControlPlane) error) error {
	if m.cached != nil {
		if err := change(m.cached.DeepCopy()); !apierrors.IsConflict(err) {
			return err
		}
	}
	_, plane, err := m.Read(ctx)
	if err != nil {
		return err
	}
	return change(plane)
}

// Read are the marks as the API server has them now, and the object that they are on.
func (m Marking) Read(ctx context.Context) (guards.Marks, *v1alpha1.OpenShiftControlPlane, error) {
	plane := &v1alpha1.OpenShiftControlPlane{}
	if err := m.Live.Get(ctx, m.Key, plane); err != nil {
		return guards.Marks{}, nil, fmt.Errorf("reading the marks of OpenShiftControlPlane %s: %w", m.Key, err)
	}
	if string(plane.UID) != m.UID {
		return guards.Marks{}, nil, fmt.Errorf("reading the marks of OpenShiftControlPlane %s: it is another object than before", m.Key)
	}
	return MarksOf(plane), plane, nil
}

// Advance sets the marks that are asked for and not there, and returns those that there are then, when the API server has them: only
// then may be done what they allow. None is taken back, and a digest or UID that is there stays. Each is refused if the object has
// changed since it was read; if that was from a cache, it is tried once more, unless what has changed may have had the pass decide
// otherwise: then it is a conflict.
func (m Marking) Advance(ctx context.Context, asked guards.Marks) (stand guards.Marks, err error) {
	by := m
	if m.cached != nil && MarksOf(m.cached).Advance(asked) == MarksOf(m.cached) {
		by = m.By(nil) // a cache is not believed that they are there
	}
	err = by.Change(ctx, func(plane *v1alpha1.OpenShiftControlPlane) (err error) {
		stand = MarksOf(plane)
		if !m.isOfAttempt(plane) || stand.Advance(asked) != stand && m.cached != nil && !decidesTheSame(m.cached, plane) {
			return changed(plane)
		}
		stand, err = m.advance(ctx, plane, asked)
		return err
	})
	return stand, err
}

// Now are the marks as the API server has them, of the attempt of Of.
func (m Marking) Now(ctx context.Context) (guards.Marks, error) {
	marks, plane, err := m.Read(ctx)
	if err == nil && !m.isOfAttempt(plane) {
		err = changed(plane)
	}
	return marks, err
}

func (m Marking) isOfAttempt(plane *v1alpha1.OpenShiftControlPlane) bool {
	if m.attempt == "" {
		return true
	}
	facts := guards.Facts{Object: Look{Plane: plane}.object(), Marks: MarksOf(plane), Noted: noted(&plane.Status)}
	return facts.AttemptID() == m.attempt
}

func changed(plane *v1alpha1.OpenShiftControlPlane) error {
	return apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("openshiftcontrolplanes").GroupResource(), plane.Name,
		errors.New("it has changed since it was decided to mark it"))
}

// decidesTheSame says that what a pass goes by, of the object itself, is the same on both copies: nobody has changed the spec, paused or
// deleted it, or begun another attempt.
func decidesTheSame(one, other *v1alpha1.OpenShiftControlPlane) bool {
	return one.Generation == other.Generation && one.DeletionTimestamp.IsZero() == other.DeletionTimestamp.IsZero() &&
		isPaused(one) == isPaused(other) && MarksOf(one) == MarksOf(other) && servedMark.On(one) == servedMark.On(other)
}

func (m Marking) advance(ctx context.Context, plane *v1alpha1.OpenShiftControlPlane, asked guards.Marks) (guards.Marks, error) {
	now := MarksOf(plane)
	wanted := now.Advance(asked)
	for _, one := range []struct {
		mark        records.Mark
		there, want string
	}{
		{inputsMark, now.Inputs, wanted.Inputs},
		{bootstrapMark, now.Bootstrap, wanted.Bootstrap},
		{initializedMark, word(now.Initialized), word(wanted.Initialized)},
		{finishedMark, word(now.Finished), word(wanted.Finished)},
	} {
		if one.there == one.want {
			continue
		}
		if err := one.mark.Set(ctx, m.Client, plane, one.want); err != nil {
			return MarksOf(plane), err
		}
	}
	return MarksOf(plane), nil
}

func word(is bool) string {
	if is {
		return set
	}
	return ""
}

// Clearing marks that the attempt is cleared away, if somebody asks for that who was not served yet, and returns the marks as they are
// then, when the API server has that. It fails once the bootstrap is finished, and is a conflict where who asks, or was served last, is
// another than the pass has seen: then it may be another attempt.
func (m Marking) Clearing(ctx context.Context, seen guards.Object) (guards.Marks, error) {
	now, plane, err := m.Read(ctx)
	switch {
	case err == nil && now.Clearing == "" && (plane.Annotations[v1alpha1.RetryAnnotation] != seen.Retry || servedMark.On(plane) != seen.Served):
		return now, changed(plane)
	case err != nil:
		return now, err
	case now.Finished:
		return now, m.isFinished()
	case now.Clearing != "" || !(Look{Plane: plane}).object().AsksForScratch():
		return now, nil
	}
	err = clearingMark.Set(ctx, m.Client, plane, guards.Brief(plane.Annotations[v1alpha1.RetryAnnotation]))
	return MarksOf(plane), err
}

// Clear takes off the marks of an attempt of which nothing is left, the highest first, so that what is left of them when it is
// interrupted is what an attempt has that came less far. That it is being cleared away goes last, when it is noted what has asked for
// it. The attempt is the one that began has told of: it fails where another one has begun meanwhile, and once the bootstrap is finished:
// that is never taken back.
func (m Marking) Clear(ctx context.Context, began guards.Marks) error {
	now, plane, err := m.stillClears(ctx, began)
	if err != nil {
		return err
	}
	for _, mark := range []records.Mark{initializedMark, bootstrapMark, inputsMark} {
		if err := mark.Clear(ctx, m.Client, plane); err != nil {
			return err
		}
	}
	if now.Clearing != "" {
		if err := servedMark.Set(ctx, m.Client, plane, machine.Shorten(now.Clearing, maxUID)); err != nil {
			return err
		}
	}
	return clearingMark.Clear(ctx, m.Client, plane)
}

// StillClears fails unless the attempt is the one that Clearing has told of. Another one is not begun before the marks of this one are off,
// so that what was listed before it was asked is of this one.
func (m Marking) StillClears(ctx context.Context, began guards.Marks) error {
	_, _, err := m.stillClears(ctx, began)
	return err
}

func (m Marking) stillClears(ctx context.Context, began guards.Marks) (guards.Marks, *v1alpha1.OpenShiftControlPlane, error) {
	now, plane, err := m.Read(ctx)
	switch {
	case err != nil:
		return now, nil, err
	case now.Finished:
		return now, nil, m.isFinished()
	case now.Clearing != began.Clearing || now.Clearing == "" && now.Stage() != guards.NoStage:
		return now, nil, fmt.Errorf("clearing the marks of OpenShiftControlPlane %s: another attempt has begun", m.Key)
	}
	return now, plane, nil
}

func (m Marking) isFinished() error {
	return fmt.Errorf("clearing the marks of OpenShiftControlPlane %s: its bootstrap is finished", m.Key)
}

// Unintend takes back that a bootstrap Machine is intended, where the API server itself has no Machine of the OpenShiftControlPlane's: what
// one would be started with may be made anew then. It returns the marks as they are then; whoever was about to create the Machine finds
// that it is not intended any more.
func (m Marking) Unintend(ctx context.Context) (guards.Marks, error) {
	now, plane, err := m.Read(ctx)
	if err != nil || now.Bootstrap != guards.Intended {
		return now, err
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("MachineList"))
	if err := m.Live.List(ctx, list, client.InNamespace(m.Key.Namespace)); err != nil {
		return now, fmt.Errorf("looking for Machines of OpenShiftControlPlane %s: %w", m.Key, err)
	}
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], plane) {
			return now, nil
		}
	}
	err = bootstrapMark.Clear(ctx, m.Client, plane)
	return MarksOf(plane), err
}
