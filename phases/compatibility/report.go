package compatibility

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	configv1 "github.com/openshift/api/config/v1"
	configv1ac "github.com/openshift/client-go/config/applyconfigurations/config/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned/typed/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/conditions"
	"github.com/capstan-capi/capstan/phases/crdschema"
)

// wayOut ends the message of the condition.
const wayOut = "; to see more: capstan status --machine compatibility --key NAME; to have nothing held up while nobody answers: capstan disarm --yes"

// toldWhole is how many requirements in trouble are told of with their line. Others have the same cause as a rule, and are named as
// far as there is room.
const toldWhole = 2

// trouble is a requirement in trouble, by its name alone and with its line.
type trouble struct{ name, line string }

func troubleOf(r *requirementsv1alpha1.CompatibilityRequirement) trouble {
	t := trouble{r.Name, "CompatibilityRequirement " + r.Name}
	if c := meta.FindStatusCondition(r.Status.Conditions, StateCondition); c != nil {
		t.name += " (" + c.Reason + ")"
		t.line += " is " + c.Message
	}
	return t
}

// RecordOf is the record that a requirement's status holds; found is false if there is none that can be read.
func RecordOf(r *requirementsv1alpha1.CompatibilityRequirement) (record machine.Record, found bool) {
	c := meta.FindStatusCondition(r.Status.Conditions, RecordCondition)
	if c == nil || json.Unmarshal([]byte(c.Message), &record) != nil {
		return machine.Record{}, false
	}
	return record, record.State != ""
}

// Report writes on the ClusterOperator which requirements are in trouble, if that stands otherwise there. Without a
// ClusterOperator nothing is written: there is one as soon as any machine has reported. The API server refuses what was
// computed from an old copy, which would tell a transition anew; Report is called again when the watch brings the new one.
func (p *Phases) Report(
	ctx context.Context, operators configclient.ClusterOperatorInterface, inTrouble func(*requirementsv1alpha1.CompatibilityRequirement) bool, now time.Time,
) error {
	all, operator := &requirementsv1alpha1.CompatibilityRequirementList{}, &configv1.ClusterOperator{}
	if err := p.Client.List(ctx, all); err != nil {
		return fmt.Errorf("listing CompatibilityRequirements: %w", err)
	}
	err := p.Client.Get(ctx, client.ObjectKey{Name: ClusterOperator}, operator)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading ClusterOperator %s: %w", ClusterOperator, err)
	}
	var troubles []trouble
	for i := range all.Items {
		if r := &all.Items[i]; inTrouble(r) {
			troubles = append(troubles, troubleOf(r))
		}
	}
	slices.SortFunc(troubles, func(a, b trouble) int { return strings.Compare(a.line, b.line) })
	wanted := []configv1.ClusterOperatorStatusCondition{degradedBy(troubles)}
	conditions.Stamp(wanted, operator.Status.Conditions, now)
	if conditions.Stored(wanted, operator.Status.Conditions) {
		return nil
	}
	status := configv1ac.ClusterOperatorStatus()
	conditions.AddTo(status, wanted)
	_, err = operators.ApplyStatus(ctx, configv1ac.ClusterOperator(ClusterOperator).WithResourceVersion(operator.ResourceVersion).WithStatus(status),
		metav1.ApplyOptions{FieldManager: Manager, Force: true})
	if err != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("writing condition %sDegraded of ClusterOperator %s: %w", Controller, ClusterOperator, err)
	}
	return nil
}

// degradedBy is the condition for requirements in trouble: the first ones with their lines, then the names of others.
func degradedBy(troubles []trouble) configv1.ClusterOperatorStatusCondition {
	c := configv1.ClusterOperatorStatusCondition{Type: Controller + "Degraded", Status: configv1.ConditionFalse, Reason: machine.AsExpected}
	if len(troubles) > 0 {
		c.Status, c.Reason = configv1.ConditionTrue, machine.EphemeralError
		room, also := machine.MaxMessage-len(wayOut), "; also "
		whole := troubles[:min(len(troubles), toldWhole)]
		each := room / len(whole)
		if len(troubles) > len(whole) {
			each = room / (len(whole) + 1)
		}
		lines, names := make([]string, 0, len(whole)), make([]string, 0, len(troubles))
		for _, t := range whole {
			lines = append(lines, machine.Shorten(t.line, each-len("; ")))
		}
		for _, t := range troubles[len(whole):] {
			names = append(names, t.name)
		}
		c.Message = strings.Join(lines, "; ")
		if len(names) > 0 {
			c.Message += also + crdschema.Text(names, room-len(c.Message)-len(also))
		}
		c.Message += wayOut
	}
	return c
}
