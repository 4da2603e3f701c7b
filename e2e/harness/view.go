package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The states of the machine, as its record names them.
const (
	WaitingOnInfra = "WaitingOnInfra"
	Planning       = "Planning"
	AwaitingCRDs   = "AwaitingCRDs"
	Applying       = "Applying"
	Pruning        = "Pruning"
	Installed      = "Installed"
	Degraded       = "Degraded"
	MaxRevisions   = "MaxRevisions"
	Paused         = "Paused"
)

// recordKey is where the record lies in ClusterOperator.status.extension.
const recordKey = "clusterapi"

// Transition is one move that a machine has made, and why. Seconds is how long it had been where it left.
type Transition struct {
	From    string    `json:"from"`
	Event   string    `json:"event"`
	To      string    `json:"to"`
	At      time.Time `json:"at"`
	Seconds float64   `json:"seconds"`
	Cause   string    `json:"cause,omitempty"`
}

// Failure is the error that the machine's work meets at present.
type Failure struct {
	Message  string    `json:"message"`
	Terminal bool      `json:"terminal"`
	Since    time.Time `json:"since"`
}

// Progress counts the images at hand and the objects done together: the most
// that there ever were in the present state.
type Progress struct {
	Done int `json:"done"`
}

// Deadline is when waiting ends by itself.
type Deadline struct {
	At time.Time `json:"at"`
	To string    `json:"to"`
}

// Record is what the machine says of itself in the ClusterOperator. The zero
// Record means that there is none.
type Record struct {
	State       string       `json:"state"`
	Since       time.Time    `json:"since"`
	Reason      string       `json:"reason"`
	Progress    Progress     `json:"progress"`
	Deadline    *Deadline    `json:"deadline"`
	Failure     *Failure     `json:"failure"`
	Transitions []Transition `json:"transitions"`
}

// View is what a user can see of an installation at one moment.
type View struct {
	// ClusterAPI and ClusterOperator are nil while they do not exist.
	ClusterAPI      *operatorv1alpha1.ClusterAPI
	ClusterOperator *configv1.ClusterOperator
	Record          Record
}

// See reads a view. An unreadable record is an error.
func See(ctx context.Context, reader client.Reader) (View, error) {
	var v View
	api, operator := &operatorv1alpha1.ClusterAPI{}, &configv1.ClusterOperator{}
	switch err := reader.Get(ctx, client.ObjectKey{Name: Singleton}, api); {
	case err == nil:
		v.ClusterAPI = api
	case client.IgnoreNotFound(err) != nil:
		return v, fmt.Errorf("reading ClusterAPI %s: %w", Singleton, err)
	}
	switch err := reader.Get(ctx, client.ObjectKey{Name: ClusterOperatorName}, operator); {
	case err == nil:
		v.ClusterOperator = operator
	case client.IgnoreNotFound(err) != nil:
		return v, fmt.Errorf("reading ClusterOperator %s: %w", ClusterOperatorName, err)
	default:
		return v, nil
	}
	var err error
	v.Record, err = recordOf(operator)
	return v, err
}

func recordOf(operator *configv1.ClusterOperator) (Record, error) {
	var records map[string]json.RawMessage
	var record Record
	if len(operator.Status.Extension.Raw) == 0 {
		return record, nil
	}
	if err := json.Unmarshal(operator.Status.Extension.Raw, &records); err != nil {
		return record, fmt.Errorf("reading status.extension of ClusterOperator %s: %w", ClusterOperatorName, err)
	}
	if len(records[recordKey]) == 0 {
		return record, nil
	}
	if err := json.Unmarshal(records[recordKey], &record); err != nil {
		return record, fmt.Errorf("reading the record %q of ClusterOperator %s: %w", recordKey, ClusterOperatorName, err)
	}
	return record, nil
}

// Revisions are the listed ones, the newest last.
func (v View) Revisions() []operatorv1alpha1.ClusterAPIInstallerRevision {
	if v.ClusterAPI == nil {
		return nil
	}
	return v.ClusterAPI.Status.Revisions
}

// Current is status.currentRevision, empty before the first success.
func (v View) Current() string {
	if v.ClusterAPI == nil {
		return ""
	}
	return string(v.ClusterAPI.Status.CurrentRevision)
}

// Revision is the listed revision of this name, nil if it is not listed.
func (v View) Revision(name string) *operatorv1alpha1.ClusterAPIInstallerRevision {
	for i, revision := range v.Revisions() {
		if string(revision.Name) == name {
			return &v.Revisions()[i]
		}
	}
	return nil
}

// Condition is the ClusterOperator's condition of this type, nil if it is not there.
func (v View) Condition(kind string) *configv1.ClusterOperatorStatusCondition {
	if v.ClusterOperator == nil {
		return nil
	}
	for i, condition := range v.ClusterOperator.Status.Conditions {
		if string(condition.Type) == kind {
			return &v.ClusterOperator.Status.Conditions[i]
		}
	}
	return nil
}

// Inventory is the number of objects in the stored inventory of a revision, 0
// while there is none.
func Inventory(ctx context.Context, reader client.Reader, revision int64) (int, error) {
	stored := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: OperatorNamespace, Name: fmt.Sprintf("capstan-inventory-%d", revision)}
	if err := reader.Get(ctx, key, stored); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	var objects int
	if _, err := fmt.Sscan(stored.Data["objects"], &objects); err != nil {
		return 0, fmt.Errorf("reading the number of objects in ConfigMap %s: %w", key, err)
	}
	return objects, nil
}
