package clusteroperator

import (
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/machine"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// ours are the parts whose conditions count.
var ours = []string{"RevisionController", "InstallerController"}

func part(kind string, is bool, reason, message string) configv1.ClusterOperatorStatusCondition {
	status := configv1.ConditionFalse
	if is {
		status = configv1.ConditionTrue
	}
	return configv1.ClusterOperatorStatusCondition{
		Type: configv1.ClusterStatusConditionType(kind), Status: status, Reason: reason, Message: message,
	}
}

func TestAggregate(t *testing.T) {
	for name, row := range map[string]struct {
		parts           []configv1.ClusterOperatorStatusCondition
		kind            configv1.ClusterStatusConditionType
		status          configv1.ConditionStatus
		reason, message string
	}{
		"one part that degrades is enough": {
			parts: []configv1.ClusterOperatorStatusCondition{
				part("RevisionControllerDegraded", true, "NonRetryableError", "by tag"),
				part("InstallerControllerDegraded", false, "AsExpected", ""),
			},
			kind: configv1.OperatorDegraded, status: configv1.ConditionTrue, reason: "NonRetryableError",
			message: "RevisionControllerDegraded: by tag",
		},
		"the worst reason of the parts that decide is shown": {
			parts: []configv1.ClusterOperatorStatusCondition{
				part("RevisionControllerProgressing", true, "EphemeralError", "registry away"),
				part("InstallerControllerProgressing", true, "Progressing", "wave 3/7"),
			},
			kind: configv1.OperatorProgressing, status: configv1.ConditionTrue, reason: "EphemeralError",
			message: "RevisionControllerProgressing: registry away\nInstallerControllerProgressing: wave 3/7",
		},
		"all parts as expected": {
			parts: []configv1.ClusterOperatorStatusCondition{part("InstallerControllerAvailable", true, "AsExpected", "revision 1 is installed")},
			kind:  configv1.OperatorAvailable, status: configv1.ConditionTrue, reason: "AsExpected",
			message: "InstallerControllerAvailable: revision 1 is installed",
		},
		"not upgradeable": {
			parts: []configv1.ClusterOperatorStatusCondition{part("InstallerControllerUpgradeable", false, "WaitingOnExternal", "kept")},
			kind:  configv1.OperatorUpgradeable, status: configv1.ConditionFalse, reason: "WaitingOnExternal",
			message: "InstallerControllerUpgradeable: kept",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range Aggregate(ours, row.parts, noon) {
				if c.Type != row.kind {
					continue
				}
				if c.Status != row.status || c.Reason != row.reason || c.Message != row.message {
					t.Errorf("got %+v", c)
				}
				return
			}
			t.Errorf("there is no %s", row.kind)
		})
	}
}

func TestAggregate_leaves_out_a_condition_without_parts(t *testing.T) {
	out := Aggregate(ours, []configv1.ClusterOperatorStatusCondition{part("InstallerControllerDegraded", false, "AsExpected", "")}, noon)
	if len(out) != 1 || out[0].Type != configv1.OperatorDegraded {
		t.Errorf("got %+v", out)
	}
}

func TestAggregate_keeps_the_transition_time_unless_the_status_changes(t *testing.T) {
	before := metav1.NewTime(noon.Add(-time.Hour))
	there := part("Degraded", false, "AsExpected", "")
	there.LastTransitionTime = before
	for is, want := range map[bool]metav1.Time{false: before, true: metav1.NewTime(noon)} {
		out := Aggregate(ours, []configv1.ClusterOperatorStatusCondition{there, part("InstallerControllerDegraded", is, "EphemeralError", "x")}, noon)
		if got := out[0].LastTransitionTime; !got.Equal(&want) {
			t.Errorf("degraded=%v: transition at %v, want %v", is, got, want)
		}
	}
}

func TestAggregate_bounds_the_message(t *testing.T) {
	out := Aggregate(ours, []configv1.ClusterOperatorStatusCondition{
		part("InstallerControllerDegraded", true, "EphemeralError", strings.Repeat("ö", 2000)),
	}, noon)
	if got := len(out[0].Message); got > machine.MaxMessage {
		t.Errorf("the message has %d bytes", got)
	}
}

func TestAggregate_has_each_part_say_something(t *testing.T) {
	long := strings.Repeat("x", machine.MaxMessage) + "; to go on: capstan retry"
	out := Aggregate(ours, []configv1.ClusterOperatorStatusCondition{
		part("RevisionControllerDegraded", true, "EphemeralError", long),
		part("InstallerControllerDegraded", true, "EphemeralError", "one says why"),
	}, noon)
	got := out[0].Message
	if len(got) > machine.MaxMessage || len(got) < machine.MaxMessage-8 || !strings.HasPrefix(got, "RevisionControllerDegraded: xxx") || !strings.HasSuffix(got, "; to go on: capstan retry\nInstallerControllerDegraded: one says why") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

func TestAggregate_counts_nothing_but_the_conditions_of_the_given_parts(t *testing.T) {
	out := Aggregate([]string{"InstallerController"}, []configv1.ClusterOperatorStatusCondition{
		part("RevisionControllerAvailable", false, "NonRetryableError", "left behind"),
		part("Available", false, "NonRetryableError", "left behind"),
		part("InstallerControllerAvailable", true, "AsExpected", "revision 3 is installed"),
		part("CoreClusterControllerDegraded", true, "EphemeralError", "somebody else's"),
	}, noon)
	if len(out) != 1 || out[0].Type != configv1.OperatorAvailable || out[0].Status != configv1.ConditionTrue {
		t.Errorf("got %+v", out)
	}
}
