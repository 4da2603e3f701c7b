package status

import (
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/conditions"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestMerge_the_transition_time_moves_with_the_status_only(t *testing.T) {
	before := metav1.NewTime(noon.Add(-time.Hour))
	old := []configv1.ClusterOperatorStatusCondition{
		{Type: "XDegraded", Status: configv1.ConditionFalse, Reason: "AsExpected", LastTransitionTime: before},
	}
	for _, row := range []struct {
		told Condition
		want metav1.Time
	}{
		{Condition{Type: "XDegraded", Is: false, Reason: "Other", Message: "new words"}, before},
		{Condition{Type: "XDegraded", Is: true, Reason: "EphemeralError"}, metav1.NewTime(noon)},
		{Condition{Type: "XProgressing", Is: true}, metav1.NewTime(noon)},
	} {
		got := merge(old, []Condition{row.told}, nil, noon)[0]
		if !got.LastTransitionTime.Equal(&row.want) {
			t.Errorf("%+v: transition at %v, want %v", row.told, got.LastTransitionTime, row.want)
		}
	}
}

func TestMerge_what_was_said_of_a_lasting_condition_stays(t *testing.T) {
	const available = "InstallerControllerAvailable"
	said := merge(nil, []Condition{{Type: available, Is: true, Reason: "AsExpected", Message: "revision 1 is installed"}}, nil, noon)
	later := merge(said, []Condition{{Type: "InstallerControllerDegraded", Reason: "AsExpected"}}, []string{available}, noon.Add(time.Hour))
	if got := conditions.Find(later, available); got == nil || *got != said[0] {
		t.Errorf("got %+v", later)
	}
}

func TestMerge_what_is_not_sure_leaves_what_was_said_of_it(t *testing.T) {
	told := []Condition{{Type: "XUpgradeable", Is: true, Reason: "AsExpected", Unsure: true}}
	no := configv1.ClusterOperatorStatusCondition{Type: "XUpgradeable", Status: configv1.ConditionFalse, Reason: "EphemeralError", Message: "in the way"}
	byHand := configv1.ClusterOperatorStatusCondition{Type: "XUpgradeable", Status: configv1.ConditionUnknown}
	for name, row := range map[string]struct {
		old  []configv1.ClusterOperatorStatusCondition
		want configv1.ConditionStatus
	}{
		"said before":                {[]configv1.ClusterOperatorStatusCondition{no}, configv1.ConditionFalse},
		"never said":                 {nil, configv1.ConditionTrue},
		"said by somebody else":      {[]configv1.ClusterOperatorStatusCondition{byHand}, configv1.ConditionTrue},
		"something else was said of": {[]configv1.ClusterOperatorStatusCondition{{Type: "XDegraded", Status: configv1.ConditionFalse}}, configv1.ConditionTrue},
	} {
		if got := merge(row.old, told, nil, noon); len(got) != 1 || got[0].Status != row.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
