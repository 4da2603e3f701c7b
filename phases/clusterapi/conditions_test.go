package clusterapi

import (
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
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
		got := merge(old, []Condition{row.told}, noon)[0]
		if !got.LastTransitionTime.Equal(&row.want) {
			t.Errorf("%+v: transition at %v, want %v", row.told, got.LastTransitionTime, row.want)
		}
	}
}

func TestMerge_what_was_said_of_a_lasting_condition_stays(t *testing.T) {
	available := lasting
	said := merge(nil, []Condition{{Type: string(available), Is: true, Reason: "AsExpected", Message: "revision 1 is installed"}}, noon)
	later := merge(said, []Condition{{Type: "InstallerControllerDegraded", Reason: "AsExpected"}}, noon.Add(time.Hour))
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
		if got := merge(row.old, told, noon); len(got) != 1 || got[0].Status != row.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestVersions_reports_the_release_once_it_is_installed(t *testing.T) {
	store := &Store{Phases: &Phases{Release: "4.22.6"}}
	operator := &configv1.ClusterOperator{Status: configv1.ClusterOperatorStatus{
		Versions: []configv1.OperandVersion{{Name: operandVersion, Version: "4.22.5"}},
	}}
	done := guards.Facts{Wanted: "b", Latest: "b", LatestNumber: 2, CurrentNumber: 2, Applied: guards.Applied{Complete: true}}
	if got := store.versions(operator, done)[0].Version; got != "4.22.6" {
		t.Errorf("installed, and it reports %s", got)
	}
	for what, f := range map[string]guards.Facts{
		"the wanted content is not known": {Latest: "b", LatestNumber: 2, CurrentNumber: 2, Applied: done.Applied},
		"other content is wanted":         {Wanted: "c", Latest: "b", LatestNumber: 2, CurrentNumber: 2, Applied: done.Applied},
		"it is not current yet":           {Wanted: "b", Latest: "b", LatestNumber: 2, CurrentNumber: 1, Applied: done.Applied},
		"a probe fails":                   {Wanted: "b", Latest: "b", LatestNumber: 2, CurrentNumber: 2},
		"older ones are left":             {Wanted: "b", Latest: "b", LatestNumber: 2, CurrentNumber: 2, Applied: done.Applied, Older: 1},
	} {
		if got := store.versions(operator, f)[0].Version; got != "4.22.5" {
			t.Errorf("%s, and it reports %s", what, got)
		}
	}
}
