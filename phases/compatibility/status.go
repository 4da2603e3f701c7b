package compatibility

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/compatibility"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/crdschema"
	"github.com/capstan-capi/capstan/phases/records"
	"github.com/capstan-capi/capstan/phases/status"
)

// Condition is one of a requirement, without times.
type Condition struct {
	Type            string
	Is              bool
	Reason, Message string
}

// Line says in one line where a machine is; said is what it waits for, if that is another thing than its record says.
func Line(r machine.Record, said string) string {
	r.Reason = cmp.Or(said, r.Reason)
	return status.Line(r)
}

// Conditions that are kept as long as nobody can tell.
const (
	admittedCondition   = "Admitted"
	compatibleCondition = "Compatible"
)

// Store keeps records and conditions in the status of requirements.
func (p *Phases) Store(tell func(Snapshot) []Condition, line func(Snapshot) string) *Store {
	return &Store{phases: p, Applied: records.NewApplied(p.Client, func() *requirementsv1alpha1.CompatibilityRequirement {
		return &requirementsv1alpha1.CompatibilityRequirement{}
	},
		func(r *requirementsv1alpha1.CompatibilityRequirement) *[]metav1.Condition {
			return &r.Status.Conditions
		},
		func(from, to *requirementsv1alpha1.CompatibilityRequirement) { from.Status.DeepCopyInto(&to.Status) },
		Manager, func(r *requirementsv1alpha1.CompatibilityRequirement, s Snapshot) ([]metav1.Condition, int64) {
			return say(r, s, tell(s))
		}, line, p.Now)}
}

// Store is the [machine.Store] of requirements.
type Store struct {
	*records.Applied[guards.Facts, *Pass, *requirementsv1alpha1.CompatibilityRequirement]
	phases *Phases
}

// Save applies the status. Where the API server refuses it for what stands there beside it, and names that, it is taken
// away, and the next pass saves: a generation of the definition that was never reached, as of a forger, or more conditions of
// others than leave room.
func (s *Store) Save(ctx context.Context, key machine.Key, shot Snapshot) (time.Duration, error) {
	later, err := s.Applied.Save(ctx, key, shot)
	definition, conditions := refuses(err, "status.observedCRD"), refuses(err, "status.conditions")
	if (definition || conditions) && shot.Seen != nil && shot.Seen.Requirement != nil {
		err = errors.Join(err, s.phases.makeRoom(ctx, shot.Seen.Requirement, definition, conditions))
	}
	return later, err
}

// refuses says that an API server finds a field invalid, and not just one item of it.
func refuses(err error, field string) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool {
		return c.Field == field || strings.HasPrefix(c.Field, field+".")
	})
}

// ownConditions are those that are written here.
var ownConditions = []string{"Progressing", admittedCondition, compatibleCondition, crdschema.EnforcesCondition, StateCondition, RecordCondition}

// makeRoom takes from a status which definition was observed, or all but the own conditions.
func (p *Phases) makeRoom(ctx context.Context, r *requirementsv1alpha1.CompatibilityRequirement, definition, conditions bool) error {
	after := r.DeepCopy()
	if definition {
		after.Status.ObservedCRD = requirementsv1alpha1.ObservedCRD{}
	}
	after.Status.Conditions = slices.DeleteFunc(after.Status.Conditions, func(c metav1.Condition) bool {
		return conditions && !slices.Contains(ownConditions, c.Type)
	})
	if len(after.Status.Conditions) == 0 {
		after.Status.Conditions = nil
	}
	err := p.Client.Status().Patch(ctx, after, client.MergeFromWithOptions(r, client.MergeFromWithOptimisticLock{}), client.FieldOwner(Manager))
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("clearing the status of CompatibilityRequirement %s: %w", r.Name, err)
	}
	return nil
}

// Forget lets go of what is remembered of a requirement that is gone.
func (s *Store) Forget(ctx context.Context, key machine.Key) (time.Duration, error) {
	s.phases.Forget(key)
	return s.Applied.Forget(ctx, key)
}

// say puts what was seen into the status of a requirement. It returns its conditions, and the generation that its state and
// record speak of: as long as nobody can tell whether the requirement is in force as it stands, that is the one they spoke of.
func say(r *requirementsv1alpha1.CompatibilityRequirement, s Snapshot, told []Condition) (conditions []metav1.Condition, of int64) {
	generation := s.Facts.Generation
	for _, c := range told {
		is := metav1.ConditionFalse
		if c.Is {
			is = metav1.ConditionTrue
		}
		conditions = append(conditions, metav1.Condition{Type: c.Type, Status: is, Reason: c.Reason, Message: c.Message, ObservedGeneration: generation})
	}
	if s.Facts.Spec.Known && s.Facts.Spec.Problem == "" {
		conditions = append(conditions, enforces(crdschema.Asked(s.Seen.Requirement), generation))
	}
	of = generation
	if refused := s.Facts.Spec.Known && s.Facts.Spec.Problem != ""; !s.Facts.Hooks.Known && !refused {
		of = toldOf(r, StateCondition)
	}
	for _, name := range []string{admittedCondition, compatibleCondition, crdschema.EnforcesCondition} {
		if kept := meta.FindStatusCondition(r.Status.Conditions, name); kept != nil && meta.FindStatusCondition(conditions, name) == nil {
			conditions = append(conditions, *kept)
		}
	}
	// The API never lets go of the name, nor takes another one.
	r.Status.CRDName = cmp.Or(r.Status.CRDName, s.Seen.CRDName)
	if crd := s.Facts.CRD; crd.Seen {
		r.Status.ObservedCRD = requirementsv1alpha1.ObservedCRD{UID: crd.UID, Generation: crd.Generation}
	}
	return conditions, of
}

// enforces remembers what a spec enforces that can be used.
func enforces(a crdschema.Actions, generation int64) metav1.Condition {
	is, text := metav1.ConditionFalse, []string{}
	for of, action := range map[string]requirementsv1alpha1.CRDAdmitAction{"the CRD": a.CRDs, "its objects": a.Objects} {
		if action != "" {
			is, text = metav1.ConditionTrue, append(text, "writes of "+of+": "+string(action))
		}
	}
	slices.Sort(text)
	return metav1.Condition{Type: crdschema.EnforcesCondition, Status: is, Reason: a.Reason(), Message: strings.Join(text, "; "), ObservedGeneration: generation}
}
