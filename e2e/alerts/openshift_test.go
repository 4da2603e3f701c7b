package alerts

import (
	"slices"
	"testing"

	"github.com/prometheus/prometheus/model/rulefmt"
)

// absentProvider asks for something else than what the provider counts of all alerts.
const absentProvider = "CapstanOpenShiftProviderAbsent"

// The rules of the provider of OpenShift clusters, which tells as the operator does what needs attention.
func openShift(t *testing.T) []rulefmt.Rule {
	t.Helper()
	found := rulesOf(t, "../../config/alerts/alerts.yaml")
	for _, name := range []string{"InstallStuck", "BootstrapLeaked", "KubeconfigExpiring", "ControlPlaneDegraded", "ConfigFailed", "ProviderAbsent"} {
		if !slices.ContainsFunc(found, func(r rulefmt.Rule) bool { return r.Alert == "CapstanOpenShift"+name }) {
			t.Errorf("no rule is about %s", name)
		}
	}
	return found
}

func TestOpenShiftRules_fire_when_what_they_stand_for_has_lasted_and_end_with_it(t *testing.T) {
	for _, rule := range openShift(t) {
		if rule.Alert == absentProvider {
			continue
		}
		t.Run(rule.Alert, func(t *testing.T) {
			if machine, alone := machineOf(t, rule); !alone {
				t.Errorf("it is of all machines, not of %s", machine)
			}
			firesWhenItLasts(t, rule)
			endsWithIt(t, rule)
		})
	}
}

func TestOpenShiftRules_miss_a_provider_that_tells_nothing(t *testing.T) {
	all := openShift(t)
	rule := all[slices.IndexFunc(all, func(r rulefmt.Rule) bool { return r.Alert == absentProvider })]
	missesWhoTellsNothing(t, rule, "openshiftcontrolplane")
}

func TestOpenShiftRules_say_what_OpenShift_asks_of_alerts(t *testing.T) {
	saysWhatIsAsked(t, openShift(t))
}
