package conditions

import (
	"encoding/json"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	configv1ac "github.com/openshift/client-go/config/applyconfigurations/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func condition(status configv1.ConditionStatus, reason, message string) configv1.ClusterOperatorStatusCondition {
	return configv1.ClusterOperatorStatusCondition{Type: configv1.OperatorDegraded, Status: status, Reason: reason, Message: message}
}

func TestStamp_the_transition_time_moves_with_the_status_only(t *testing.T) {
	old := condition(configv1.ConditionFalse, "AsExpected", "fine")
	old.LastTransitionTime = metav1.NewTime(noon.Add(-time.Hour))
	for _, row := range []struct {
		told configv1.ClusterOperatorStatusCondition
		old  []configv1.ClusterOperatorStatusCondition
		want time.Time
	}{
		{condition(configv1.ConditionFalse, "Other", "other words"), []configv1.ClusterOperatorStatusCondition{old}, noon.Add(-time.Hour)},
		{condition(configv1.ConditionTrue, "AsExpected", "fine"), []configv1.ClusterOperatorStatusCondition{old}, noon},
		{condition(configv1.ConditionFalse, "AsExpected", "fine"), nil, noon},
	} {
		told := []configv1.ClusterOperatorStatusCondition{row.told}
		Stamp(told, row.old, noon.Add(300*time.Millisecond))
		if got := told[0].LastTransitionTime; !got.Time.Equal(row.want) {
			t.Errorf("%+v after %+v: transition at %v, want %v", row.told, row.old, got, row.want)
		}
	}
}

func TestStored_sees_every_difference_but_the_time(t *testing.T) {
	there := condition(configv1.ConditionFalse, "AsExpected", "fine")
	there.LastTransitionTime = metav1.NewTime(noon)
	for name, row := range map[string]struct {
		told configv1.ClusterOperatorStatusCondition
		want bool
	}{
		"the same":      {condition(configv1.ConditionFalse, "AsExpected", "fine"), true},
		"other words":   {condition(configv1.ConditionFalse, "AsExpected", "other"), false},
		"other reason":  {condition(configv1.ConditionFalse, "Other", "fine"), false},
		"other status":  {condition(configv1.ConditionTrue, "AsExpected", "fine"), false},
		"not there yet": {configv1.ClusterOperatorStatusCondition{Type: configv1.OperatorAvailable}, false},
	} {
		if got := Stored([]configv1.ClusterOperatorStatusCondition{row.told}, []configv1.ClusterOperatorStatusCondition{there}); got != row.want {
			t.Errorf("%s: stored is %v", name, got)
		}
	}
}

func TestAddTo_leaves_nothing_out(t *testing.T) {
	told := condition(configv1.ConditionTrue, "EphemeralError", "the registry is away")
	told.LastTransitionTime = metav1.NewTime(noon)
	status := configv1ac.ClusterOperatorStatus()
	AddTo(status, []configv1.ClusterOperatorStatusCondition{told})
	if c := status.Conditions[0]; *c.Type != told.Type || *c.Status != told.Status || *c.Reason != told.Reason || *c.Message != told.Message || !c.LastTransitionTime.Equal(&told.LastTransitionTime) {
		t.Errorf("got %+v", c)
	}
}

func TestStamp_lets_nothing_through_that_controls_a_terminal(t *testing.T) {
	wanted := []configv1.ClusterOperatorStatusCondition{condition(configv1.ConditionTrue, "EphemeralError", "webhook \x1b[31msays\r:\nno")}
	Stamp(wanted, nil, noon)
	if got := wanted[0].Message; got != "webhook \ufffd[31msays :\nno" {
		t.Errorf("got %q", got)
	}
}

// encoding/json replaces what is not UTF-8 by U+FFFD. A condition that never
// equals what is stored would be written again on every pass.
func TestStored_recognizes_every_message_that_went_through_the_API(t *testing.T) {
	for _, message := range []string{"fine", "é cut in half: \xc3", "\xff\xfe in the middle"} {
		wanted := func() []configv1.ClusterOperatorStatusCondition {
			told := []configv1.ClusterOperatorStatusCondition{condition(configv1.ConditionTrue, "EphemeralError", message)}
			Stamp(told, nil, noon)
			return told
		}
		status := configv1ac.ClusterOperatorStatus()
		AddTo(status, wanted())
		sent, err := json.Marshal(status)
		if err != nil {
			t.Fatal(err)
		}
		var stored configv1.ClusterOperatorStatus
		if err := json.Unmarshal(sent, &stored); err != nil {
			t.Fatal(err)
		}
		if !Stored(wanted(), stored.Conditions) {
			t.Errorf("%q is stored as %q, and would be written again", message, stored.Conditions[0].Message)
		}
	}
}
