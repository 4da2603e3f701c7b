package privatecapi

import (
	"strings"
	"testing"
	"time"
)

func TestProgramme_says_why_private_types_are_not_switched_off(t *testing.T) {
	enabled := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		programme Programme
		want      string
	}{
		"nobody has them":                     {Programme{Known: true, NoImage: true}, ""},
		"they are on":                         {Programme{Known: true, Enabled: enabled, InUse: 3}, ""},
		"the flag is gone":                    {Programme{Known: true, Enabled: enabled, InUse: 1, NoImage: true}, "by 1 HostedCluster: give the operator flag --private-capi-image again"},
		"the programme is gone":               {Programme{Known: true, InUse: 2}, "by 2 HostedClusters: create ConfigMap capstan-private-capi again"},
		"it is not known yet if there is one": {Programme{InUse: 2}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := row.programme.Refusal(); (got == "") != (row.want == "") || !strings.Contains(got, row.want) {
				t.Errorf("it says %q", got)
			}
		})
	}
}

func TestProgramme_refuses_a_downgrade_only_while_private_types_are_in_use(t *testing.T) {
	if got := (Programme{InUse: 2}).Downgrade("4.21.9", "4.22.0"); !strings.Contains(got, "older than 4.22.0") || !strings.Contains(got, "install release 4.22.0 or a later one") {
		t.Errorf("it says %q", got)
	}
	if got := (Programme{}).Downgrade("4.21.9", "4.22.0") + (Programme{InUse: 1}).Downgrade("4.21.9", ""); got != "" {
		t.Errorf("it says %q", got)
	}
}

func TestConsistent_waits_for_the_programme_that_is_gone_while_others_have_private_types(t *testing.T) {
	f := Facts{Seen: true, Fence: Fenced{Known: true}, Standard: Side{Known: true}, Private: Side{Known: true}, Programme: Programme{Known: true, InUse: 1}}
	if _, known := MarkFor(f); known || !strings.Contains(Consistent.Answer(f).Reason, "create ConfigMap") {
		t.Errorf("it answers %+v", Consistent.Answer(f))
	}
	f.Programme.InUse = 0
	if due, known := MarkFor(f); !known || due != ToStandard {
		t.Errorf("without them it is %s, %v", due, known)
	}
}
