package bootgate

import (
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/machine"
)

func TestGuards(t *testing.T) {
	aws, there := Platform{Known: true, Name: "AWS"}, Configuration{Seen: true, Known: true}
	done := Version{Seen: true, Name: "4.22.1", State: "Completed"}
	vouched := func(vouchers map[string]string) Facts {
		return Facts{Release: done, Golden: Content{Seen: true, Vouchers: vouchers}}
	}
	for name, row := range map[string]struct {
		guard machine.Guard[Facts]
		facts Facts
		want  machine.Truth
		says  string
	}{
		"Applies/nothing seen is unknown":                       {Applies, Facts{}, machine.Unknown, "not been looked for"},
		"Applies/the platform is not known":                     {Applies, Facts{Config: there}, machine.Unknown, "Infrastructure"},
		"Applies/no configuration is no, whatever the platform": {Applies, Facts{Config: Configuration{Seen: true, Absent: true}}, machine.No, "create it"},
		"Applies/another platform":                              {Applies, Facts{Config: there, Platform: Platform{Known: true, Name: "BareMetal"}}, machine.No, "platform BareMetal"},
		"Applies/no platform":                                   {Applies, Facts{Config: there, Platform: Platform{Known: true}}, machine.No, "platform none"},
		"Applies/Azure Stack Hub":                               {Applies, Facts{Config: there, Platform: Platform{Known: true, Name: "Azure", StackHub: true}}, machine.No, "Stack Hub"},
		"Applies/Azure":                                         {Applies, Facts{Config: there, Platform: Platform{Known: true, Name: "Azure"}}, machine.Yes, ""},
		"Applies/AWS":                                           {Applies, Facts{Config: there, Platform: aws}, machine.Yes, "AWS"},

		"ConfigIsResolved/nothing seen is unknown":       {ConfigIsResolved, Facts{}, machine.Unknown, ""},
		"ConfigIsResolved/whose it is is not known":      {ConfigIsResolved, Facts{Config: Configuration{Seen: true}}, machine.Unknown, ""},
		"ConfigIsResolved/ours differs":                  {ConfigIsResolved, Facts{Config: Configuration{Seen: true, Known: true, Ours: true, Differs: "machinesets is None, not All"}}, machine.No, "not All"},
		"ConfigIsResolved/ours stands":                   {ConfigIsResolved, Facts{Config: Configuration{Seen: true, Known: true, Ours: true, Generation: 3, Observed: 2}}, machine.Yes, ""},
		"ConfigIsResolved/another's is behind":           {ConfigIsResolved, Facts{Config: Configuration{Seen: true, Known: true, Generation: 3, Observed: 2}}, machine.No, "generation 2"},
		"ConfigIsResolved/another's is current":          {ConfigIsResolved, Facts{Config: Configuration{Seen: true, Known: true, Generation: 3, Observed: 3}}, machine.Yes, ""},
		"ConfigIsResolved/another's was never written":   {ConfigIsResolved, Facts{Config: Configuration{Seen: true, Known: true, Generation: 3}}, machine.Yes, ""},
		"ConfigIsResolved/what differs of another's":     {ConfigIsResolved, Facts{Config: Configuration{Seen: true, Known: true, Differs: "x"}}, machine.Yes, ""},
		"ReleaseIsComplete/not read is unknown":          {ReleaseIsComplete, Facts{}, machine.Unknown, "not been read"},
		"ReleaseIsComplete/no history":                   {ReleaseIsComplete, Facts{Release: Version{Seen: true}}, machine.No, "no history"},
		"ReleaseIsComplete/partial":                      {ReleaseIsComplete, Facts{Release: Version{Seen: true, Name: "4.22.1", State: "Partial"}}, machine.No, "4.22.1 is Partial"},
		"ReleaseIsComplete/completed":                    {ReleaseIsComplete, Facts{Release: done}, machine.Yes, "4.22.1"},
		"GoldenIsReadable/not looked for is unknown":     {GoldenIsReadable, Facts{}, machine.Unknown, ""},
		"GoldenIsReadable/absent":                        {GoldenIsReadable, Facts{Golden: Content{Seen: true, Absent: true}}, machine.No, "does not exist"},
		"GoldenIsReadable/not JSON":                      {GoldenIsReadable, Facts{Golden: Content{Seen: true, Problem: "key stream is not JSON"}}, machine.No, "key stream is not JSON; delete it"},
		"GoldenIsReadable/read":                          {GoldenIsReadable, Facts{Golden: Content{Seen: true}}, machine.Yes, ""},
		"GoldenIsVouched/no release is unknown":          {GoldenIsVouched, Facts{Golden: Content{Seen: true}}, machine.Unknown, ""},
		"GoldenIsVouched/no ConfigMap is unknown":        {GoldenIsVouched, Facts{Release: done, Golden: Content{Seen: true, Absent: true}}, machine.Unknown, ""},
		"GoldenIsVouched/no key is yes":                  {GoldenIsVouched, vouched(nil), machine.Yes, "4.22.1"},
		"GoldenIsVouched/both keys are of the release":   {GoldenIsVouched, vouched(map[string]string{"releaseVersion": "4.22.1", "MCOReleaseImageVersion": "4.22.1"}), machine.Yes, ""},
		"GoldenIsVouched/one key is of another":          {GoldenIsVouched, vouched(map[string]string{"releaseVersion": "4.22.1", "MCOReleaseImageVersion": "4.21.9"}), machine.No, `MCOReleaseImageVersion is "4.21.9"`},
		"GoldenIsVouched/an empty key vouches for none":  {GoldenIsVouched, vouched(map[string]string{"releaseVersion": ""}), machine.No, `releaseVersion is ""`},
		"GoldenIsKnown/not read is unknown":              {GoldenIsKnown, Facts{Golden: Content{Seen: true, Problem: "x"}}, machine.Unknown, ""},
		"GoldenIsKnown/not written yet":                  {GoldenIsKnown, Facts{Golden: Content{Seen: true}}, machine.No, "capstan-known-images has to be written first"},
		"GoldenIsKnown/written":                          {GoldenIsKnown, Facts{Golden: Content{Seen: true, Known: true}}, machine.Yes, ""},
		"ConfigHasProblems/not seen is unknown":          {ConfigHasProblems, Facts{}, machine.Unknown, ""},
		"ConfigHasProblems/there is no configuration":    {ConfigHasProblems, Facts{Config: Configuration{Seen: true, Absent: true}}, machine.No, ""},
		"ConfigHasProblems/none":                         {ConfigHasProblems, Facts{Config: there}, machine.No, ""},
		"ConfigHasProblems/a claim, and more than that":  {ConfigHasProblems, Facts{Config: Configuration{Seen: true, Problems: []string{"claimed", "bad selector"}}}, machine.Yes, "claimed; bad selector"},
		"ConfigHasProblems/also while little else known": {ConfigHasProblems, Facts{Config: Configuration{Problems: []string{"claimed"}}}, machine.Yes, "claimed"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := row.guard.Answer(row.facts); got.Truth != row.want || !strings.Contains(got.Reason, row.says) {
				t.Errorf("answers %s (%q), want %s (%q)", got.Truth, got.Reason, row.want, row.says)
			}
		})
	}
}

func TestGuards_are_unknown_for_the_same_reason_while_nothing_can_be_looked_at(t *testing.T) {
	facts := Facts{Blind: "secrets is forbidden", Config: Configuration{Seen: true, Absent: true, Problems: []string{"claimed"}}}
	for _, asked := range []machine.Guard[Facts]{Applies, ConfigIsResolved, ReleaseIsComplete, GoldenIsReadable, GoldenIsVouched, GoldenIsKnown, ConfigHasProblems} {
		if got := asked.Answer(facts); got.Truth != machine.Unknown || got.Reason != facts.Blind {
			t.Errorf("%s answers %s (%q)", asked.Name, got.Truth, got.Reason)
		}
	}
}

func TestIsOpen_and_ShutAfterRelease(t *testing.T) {
	open := Facts{
		Platform: Platform{Known: true, Name: "GCP"}, Config: Configuration{Seen: true, Known: true},
		Release: Version{Seen: true, Name: "4.22.1", State: "Completed"}, Golden: Content{Seen: true, Known: true},
	}
	for name, row := range map[string]struct {
		change func(*Facts)
		want   machine.Truth
		shut   bool
	}{
		"all is seen and right":                 {func(*Facts) {}, machine.Yes, false},
		"nothing is seen":                       {func(f *Facts) { *f = Facts{} }, machine.Unknown, false},
		"the golden images are not seen":        {func(f *Facts) { f.Golden = Content{} }, machine.Unknown, true},
		"nobody can tell what is resolved":      {func(f *Facts) { f.Config.Known = false }, machine.Unknown, true},
		"an upgrade is under way":               {func(f *Facts) { f.Release.State = "Partial" }, machine.No, false},
		"the golden images are absent":          {func(f *Facts) { f.Golden.Absent = true }, machine.No, true},
		"the golden images are another release": {func(f *Facts) { f.Golden.Vouchers = map[string]string{"releaseVersion": "4.21.0"} }, machine.No, true},
		"the configuration is behind":           {func(f *Facts) { f.Config.Generation, f.Config.Observed = 2, 1 }, machine.No, true},
		"the golden images are not known":       {func(f *Facts) { f.Golden.Known = false }, machine.No, true},
		"it does not apply":                     {func(f *Facts) { f.Platform.Name = "None" }, machine.No, false},
	} {
		t.Run(name, func(t *testing.T) {
			facts := open
			row.change(&facts)
			if got, shut := IsOpen(facts), ShutAfterRelease(facts); got.Truth != row.want || shut != row.shut {
				t.Errorf("it answers %s (%q), shut %v; want %s, shut %v", got.Truth, got.Reason, shut, row.want, row.shut)
			}
		})
	}
}
