package legacyoperator

import (
	"strings"
	"testing"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

func TestGuards(t *testing.T) {
	until := time.Date(2026, 1, 8, 12, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		guard machine.Guard[Facts]
		facts Facts
		want  machine.Truth
		says  string
	}{
		"AllPrivate/not seen is unknown":      {AllPrivate, Facts{}, machine.Unknown, "not been looked at"},
		"AllPrivate/one is not":               {AllPrivate, Facts{Seen: true, Enabled: true, Others: []string{"a has scope legacy"}}, machine.No, "1 not of the new operator alone: a has scope legacy"},
		"AllPrivate/all are":                  {AllPrivate, Facts{Seen: true, Enabled: true}, machine.Yes, ""},
		"AllPrivate/nobody has enabled it":    {AllPrivate, Facts{Seen: true}, machine.No, "nobody has enabled the programme"},
		"RetentionOver/not read is unknown":   {RetentionOver, Facts{}, machine.Unknown, ""},
		"RetentionOver/cannot be read":        {RetentionOver, Facts{Retention: Retention{Problem: "no time"}}, machine.Unknown, "no time"},
		"RetentionOver/nothing is noted":      {RetentionOver, Facts{Retention: Retention{Known: true}}, machine.No, "not been noted"},
		"RetentionOver/not yet":               {RetentionOver, Facts{Retention: Retention{Known: true, Until: until}}, machine.No, "2026-01-08"},
		"RetentionOver/over":                  {RetentionOver, Facts{Retention: Retention{Known: true, Until: until, Over: true}}, machine.Yes, ""},
		"OperatorGone/not looked for":         {OperatorGone, Facts{}, machine.Unknown, ""},
		"OperatorGone/a Deployment is there":  {OperatorGone, Facts{Operator: Operator{Known: true, Left: []string{"Deployment operator"}}}, machine.No, "Deployment operator"},
		"OperatorGone/nothing of it is there": {OperatorGone, Facts{Operator: Operator{Known: true}}, machine.Yes, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := row.guard.Answer(row.facts); got.Truth != row.want || !strings.Contains(got.Reason, row.says) {
				t.Errorf("answers %s (%q), want %s (%q)", got.Truth, got.Reason, row.want, row.says)
			}
		})
	}
}
