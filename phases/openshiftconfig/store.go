package openshiftconfig

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftconfig"
	"github.com/capstan-capi/capstan/phases/records"
	"github.com/capstan-capi/capstan/phases/standing"
)

// Condition is what is told of one thing.
type Condition = standing.Condition

// Store keeps records in the status of their objects.
type Store = records.OwnStatus[guards.Facts, Works, *v1alpha1.OpenShiftConfig]

// NewStore makes the store: record, conditions, what people read of the record and what Cluster API reads are one write, bound to the
// copy that the pass has loaded. What lasts a moment is not written.
func NewStore(c client.Client, conditions func(Snapshot) []Condition, now func() time.Time) *Store {
	return records.NewOwnStatus(c, func() *v1alpha1.OpenShiftConfig { return &v1alpha1.OpenShiftConfig{} },
		func(o *v1alpha1.OpenShiftConfig) (*runtime.RawExtension, *[]metav1.Condition) {
			return &o.Status.Machine, &o.Status.Conditions
		},
		func(s Snapshot) []metav1.Condition { return standing.Written(conditions(s)) }, now,
	).With(
		func(from, to *v1alpha1.OpenShiftConfig) { from.Status.DeepCopyInto(&to.Status) },
		note,
	).Calmly()
}

// note changes what a status says beside record and conditions, and tells how. What a machine was started with stays told.
func note(o *v1alpha1.OpenShiftConfig, s Snapshot) records.Difference {
	record, conditions := o.Status.Machine, o.Status.Conditions
	o.Status.Machine, o.Status.Conditions = runtime.RawExtension{}, nil // the longest of it, and not looked at here
	before := o.Status.DeepCopy()
	o.Status.StateStatus = standing.Told(s.Record)
	o.Status.ObservedGeneration = o.Generation
	if s.Record.State == guards.Ready || s.Record.State == guards.Frozen {
		yes := true
		o.Status.DataSecretName, o.Status.Initialization.DataSecretCreated = o.Name, &yes
	}
	same := equality.Semantic.DeepEqual(before, &o.Status)
	o.Status.Machine, o.Status.Conditions = record, conditions
	if same {
		return records.Same
	}
	return records.Different // what Cluster API waits for comes with a move
}
