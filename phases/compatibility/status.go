package compatibility

import (
	"cmp"
	"context"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	guards "github.com/capstan-capi/capstan/guards/compatibility"
	"github.com/capstan-capi/capstan/machine"
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

// compatibleCondition is the one that is kept as long as nobody can tell.
const compatibleCondition = "Compatible"

// Store keeps records and conditions in the status of requirements.
func (p *Phases) Store(tell func(Snapshot) []Condition, line func(Snapshot) string) *Store {
	return &Store{phases: p, Applied: records.NewApplied(p.Client, func() *requirementsv1alpha1.CompatibilityRequirement {
		return &requirementsv1alpha1.CompatibilityRequirement{}
	},
		func(r *requirementsv1alpha1.CompatibilityRequirement) *[]metav1.Condition {
			return &r.Status.Conditions
		},
		func(from, to *requirementsv1alpha1.CompatibilityRequirement) { from.Status.DeepCopyInto(&to.Status) },
		Manager, func(r *requirementsv1alpha1.CompatibilityRequirement, s Snapshot) []metav1.Condition {
			return say(r, s, tell(s))
		}, line, p.Now)}
}

// Store is the [machine.Store] of requirements.
type Store struct {
	*records.Applied[guards.Facts, *Pass, *requirementsv1alpha1.CompatibilityRequirement]
	phases *Phases
}

// Forget lets go of what is remembered of a requirement that is gone.
func (s *Store) Forget(ctx context.Context, key machine.Key) (time.Duration, error) {
	s.phases.Forget(key)
	return s.Applied.Forget(ctx, key)
}

// say puts what was seen into the status of a requirement, and returns its conditions.
func say(r *requirementsv1alpha1.CompatibilityRequirement, s Snapshot, told []Condition) []metav1.Condition {
	var conditions []metav1.Condition
	for _, c := range told {
		is := metav1.ConditionFalse
		if c.Is {
			is = metav1.ConditionTrue
		}
		conditions = append(conditions, metav1.Condition{Type: c.Type, Status: is, Reason: c.Reason, Message: c.Message})
	}
	crd := s.Facts.CRD
	// The API never lets go of the name, nor takes another one.
	if r.Status.CRDName = cmp.Or(r.Status.CRDName, s.Seen.CRDName); !crd.Seen {
		if kept := meta.FindStatusCondition(r.Status.Conditions, compatibleCondition); kept != nil {
			conditions = append(conditions, *kept)
		}
		return conditions
	}
	observed := requirementsv1alpha1.ObservedCRD{UID: crd.UID, Generation: crd.Generation}
	if before := r.Status.ObservedCRD; before.UID == observed.UID && before.Generation > observed.Generation {
		observed = before // the API takes no older one, as after a restore of the cluster
	}
	r.Status.ObservedCRD = observed
	return conditions
}
