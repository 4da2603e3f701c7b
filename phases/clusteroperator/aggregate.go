// Package clusteroperator sums up the conditions that the machines' controllers
// write on the ClusterOperator in the four that OpenShift reads: Available,
// Progressing, Degraded and Upgradeable. It reads nothing but conditions.
package clusteroperator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	configv1ac "github.com/openshift/client-go/config/applyconfigurations/config/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned/typed/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/conditions"
)

// FieldManager owns the aggregated conditions.
const FieldManager = "capstan-clusteroperator"

// severity orders the reasons, so that the worst one is shown.
var severity = []string{"AsExpected", "Uninitialized", "Progressing", "WaitingOnExternal", "EphemeralError", "NonRetryableError"}

// sums lists the aggregated conditions, each with the status that decides it as
// soon as one part has it.
var sums = []struct {
	kind     configv1.ClusterStatusConditionType
	decisive configv1.ConditionStatus
}{
	{configv1.OperatorAvailable, configv1.ConditionFalse},
	{configv1.OperatorProgressing, configv1.ConditionTrue},
	{configv1.OperatorDegraded, configv1.ConditionTrue},
	{configv1.OperatorUpgradeable, configv1.ConditionFalse},
}

// Aggregate returns the aggregated conditions: the sums of those of the given
// parts of machines. What others have written beside them does not count, nor what
// an installer before this one has left behind. One without any part is left out:
// there is no Available before the first success.
func Aggregate(parts []string, all []configv1.ClusterOperatorStatusCondition, now time.Time) []configv1.ClusterOperatorStatusCondition {
	var out []configv1.ClusterOperatorStatusCondition
	for _, sum := range sums {
		if condition, ok := aggregate(parts, all, sum.kind, sum.decisive); ok {
			out = append(out, condition)
		}
	}
	conditions.Stamp(out, all, now)
	return out
}

func aggregate(of []string, all []configv1.ClusterOperatorStatusCondition, kind configv1.ClusterStatusConditionType, decisive configv1.ConditionStatus) (configv1.ClusterOperatorStatusCondition, bool) {
	total := configv1.ClusterOperatorStatusCondition{Type: kind, Status: opposite(decisive), Reason: severity[0]}
	parts, worst := 0, -1
	var messages []string
	for _, c := range all {
		if part, is := strings.CutSuffix(string(c.Type), string(kind)); !is || !slices.Contains(of, part) {
			continue
		}
		parts++
		counts := c.Status == decisive
		if counts && total.Status != decisive {
			// Messages of parts that do not decide are dropped.
			total.Status, worst, messages = decisive, -1, nil
		}
		if counts != (total.Status == decisive) {
			continue
		}
		if rank := rankOf(c.Reason); rank > worst {
			worst, total.Reason = rank, c.Reason
		}
		if c.Message != "" {
			messages = append(messages, fmt.Sprintf("%s: %s", c.Type, c.Message))
		}
	}
	total.Message = machine.ShortenLines(strings.Join(fair(messages, machine.MaxMessage), "\n"), machine.MaxMessage)
	return total, parts > 0
}

// fair cuts messages that are longer than their share of the room, so that each part has a say. What a short one leaves is shared by
// the others. Ends stay: they tell until when, and what to do.
func fair(messages []string, room int) []string {
	lengths := make([]int, 0, len(messages))
	for _, m := range messages {
		lengths = append(lengths, len(m)+len("\n"))
	}
	slices.Sort(lengths)
	for i, length := range lengths {
		if share := room / (len(lengths) - i); length > share {
			cut := make([]string, 0, len(messages))
			for _, m := range messages {
				cut = append(cut, machine.ShortenLinesInside(m, share-len("\n")))
			}
			return cut
		}
		room -= length
	}
	return messages
}

func rankOf(reason string) int {
	for i, known := range severity {
		if known == reason {
			return i
		}
	}
	return len(severity)
}

func opposite(status configv1.ConditionStatus) configv1.ConditionStatus {
	if status == configv1.ConditionTrue {
		return configv1.ConditionFalse
	}
	return configv1.ConditionTrue
}

// Write sends the aggregated conditions if they differ from the stored ones. The
// API server refuses what was computed from an old copy, which would undo what
// was written since; Write is called again when the watch brings the new copy.
func Write(ctx context.Context, operators configclient.ClusterOperatorInterface, operator *configv1.ClusterOperator, parts []string, now time.Time) error {
	wanted := Aggregate(parts, operator.Status.Conditions, now)
	if conditions.Stored(wanted, operator.Status.Conditions) {
		return nil
	}
	status := configv1ac.ClusterOperatorStatus()
	conditions.AddTo(status, wanted)
	_, err := operators.ApplyStatus(ctx,
		configv1ac.ClusterOperator(operator.Name).WithResourceVersion(operator.ResourceVersion).WithStatus(status),
		metav1.ApplyOptions{FieldManager: FieldManager, Force: true})
	if err != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("writing the conditions of ClusterOperator %s: %w", operator.Name, err)
	}
	return nil
}
