package bootgate

import (
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
)

const (
	automatic = operatorv1.BootImageSkewEnforcementModeStatusAutomatic
	manually  = operatorv1.BootImageSkewEnforcementModeStatusManual
	unwatched = operatorv1.BootImageSkewEnforcementModeStatusNone
)

// history is one of completed releases, the newest first; one with a question mark was not completed.
func history(releases ...string) []configv1.UpdateHistory {
	var all []configv1.UpdateHistory
	for _, release := range releases {
		name, partial := strings.CutSuffix(release, "?")
		state := configv1.CompletedUpdate
		if partial {
			state = configv1.PartialUpdate
		}
		all = append(all, configv1.UpdateHistory{State: state, Version: name})
	}
	return all
}

func TestEnforced(t *testing.T) {
	all := Resolve(operatorv1.ManagedBootImages{}, configv1.AWSPlatformType)
	none := Resolve(operatorv1.ManagedBootImages{}, configv1.VSpherePlatformType)
	recorded := operatorv1.BootImageSkewEnforcementStatus{Mode: automatic, Automatic: operatorv1.ClusterBootImageAutomatic{OCPVersion: "4.20.3"}}
	way := history("4.22.1", "4.20.3", "4.16.0-rc.2", "4.15.9?")
	rhcos := operatorv1.ClusterBootImageManual{Mode: operatorv1.ClusterBootImageSpecModeRHCOSVersion, RHCOSVersion: "9.6.20251023-0"}
	for name, row := range map[string]struct {
		skew Skew
		mode operatorv1.BootImageSkewEnforcementModeStatus
		of   string
	}{
		"the administrator says Manual": {
			Skew{Spec: operatorv1.BootImageSkewEnforcementConfig{Mode: "Manual", Manual: rhcos}, Resolved: all, SingleNode: true}, manually, "9.6.20251023-0",
		},
		"the administrator says None":                   {Skew{Spec: operatorv1.BootImageSkewEnforcementConfig{Mode: "None"}, Resolved: all}, unwatched, ""},
		"a single node":                                 {Skew{SingleNode: true, Resolved: all, History: way}, unwatched, ""},
		"BareMetal installed at 4.10":                   {Skew{Platform: configv1.BareMetalPlatformType, Resolved: none, History: history("4.22.1", "4.10.0")}, unwatched, ""},
		"BareMetal installed before":                    {Skew{Platform: configv1.BareMetalPlatformType, Resolved: none, History: history("4.22.1", "4.9.40")}, manually, "4.9.40"},
		"BareMetal without history":                     {Skew{Platform: configv1.BareMetalPlatformType, Resolved: none}, manually, "0.0.0"},
		"not all are enrolled":                          {Skew{Resolved: none, History: way}, manually, "4.16.0"},
		"nothing is resolved":                           {Skew{History: way}, manually, "4.16.0"},
		"no release was completed":                      {Skew{Resolved: none, History: history("4.22.1?", "4.21.0?")}, manually, "4.21.0"},
		"the version of the installation is none":       {Skew{Resolved: none, History: history("night")}, manually, "0.0.0"},
		"all are enrolled, and nothing is recorded":     {Skew{Resolved: all, History: way}, automatic, "4.16.0"},
		"something moves":                               {Skew{Resolved: all, History: way, Recorded: recorded, Golden: "4.22.1"}, automatic, "4.20.3"},
		"all have moved":                                {Skew{Resolved: all, History: way, Recorded: recorded, Golden: "4.22.0-ec.4", Moved: true}, automatic, "4.22.0"},
		"all have moved, to images that say no release": {Skew{Resolved: all, History: way, Recorded: recorded, Moved: true}, automatic, "4.22.1"},
		"one is skipped":                                {Skew{Resolved: all, History: way, Recorded: recorded, Golden: "4.22.1", Moved: true, Skipped: true}, automatic, "4.16.0"},
		"what was recorded by hand is not Automatic's":  {Skew{Resolved: all, History: way, Recorded: operatorv1.BootImageSkewEnforcementStatus{Mode: manually, Manual: rhcos}}, automatic, "4.16.0"},
	} {
		t.Run(name, func(t *testing.T) {
			got := row.skew.Enforced()
			of := got.Automatic.OCPVersion + got.Manual.OCPVersion + got.Manual.RHCOSVersion
			if got.Mode != row.mode || of != row.of || (got.Manual.Mode != "") != (row.mode == manually) {
				t.Errorf("it is %+v, want %s %s", got, row.mode, row.of)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	limits, err := ParseLimits("4.13.0,9.2")
	if err != nil {
		t.Fatal(err)
	}
	auto := func(release string) operatorv1.BootImageSkewEnforcementStatus {
		return operatorv1.BootImageSkewEnforcementStatus{Mode: automatic, Automatic: operatorv1.ClusterBootImageAutomatic{OCPVersion: release}}
	}
	release := func(version string) operatorv1.BootImageSkewEnforcementStatus {
		return operatorv1.BootImageSkewEnforcementStatus{Mode: manually, Manual: operatorv1.ClusterBootImageManual{OCPVersion: version}}
	}
	rhcos := func(version string) operatorv1.BootImageSkewEnforcementStatus {
		return operatorv1.BootImageSkewEnforcementStatus{Mode: manually, Manual: operatorv1.ClusterBootImageManual{RHCOSVersion: version}}
	}
	both := auto("4.13.0")
	both.Automatic.RHCOSVersion = "413.86.202305021736-0"
	settled, stuck := Targets{Settled: true}, Targets{Settled: true, Stuck: []string{"a", "b"}}
	could, couldNot := &Upgradeable{Is: true, Message: "as before"}, &Upgradeable{Reason: SkewError, Message: "as before"}
	for name, row := range map[string]struct {
		others   bool
		enforced operatorv1.BootImageSkewEnforcementStatus
		targets  Targets
		before   *Upgradeable
		want     bool
		says     string
	}{
		"the images are others'":                    {others: true, enforced: release("4.1.0"), want: true},
		"None":                                      {enforced: operatorv1.BootImageSkewEnforcementStatus{Mode: unwatched}, want: true, says: "not watched"},
		"Manual, old":                               {enforced: release("4.12.99"), says: "release 4.12.99, and at least 4.13.0 is needed: move"},
		"Manual, at the limit":                      {enforced: release("4.13.0"), want: true},
		"Manual, ten is more than nine":             {enforced: release("4.100.0"), want: true},
		"Manual, never known":                       {enforced: release("0.0.0"), says: "0.0.0"},
		"Manual, not of a release":                  {enforced: release("4.13"), want: true, says: "cannot be read"},
		"Manual, nothing":                           {enforced: release(""), want: true, says: "neither a release"},
		"Manual, RHCOS of RHEL 8.4":                 {enforced: rhcos("48.84.202208021106-0"), says: "RHCOS 48.84.202208021106-0, that is RHEL 8.4, and at least RHEL 9.2 is needed"},
		"Manual, RHCOS of RHEL 9.2":                 {enforced: rhcos("414.92.202310270216-0"), want: true},
		"Manual, RHCOS of RHEL 9.10":                {enforced: rhcos("420.910.202610270216-0"), want: true},
		"Manual, RHCOS by day":                      {enforced: rhcos("9.6.20251023-0"), want: true},
		"Manual, old RHCOS by day":                  {enforced: rhcos("9.0.20251023-0"), says: "RHEL 9.0"},
		"Manual, RHCOS with a date of ten digits":   {enforced: rhcos("9.6.2025102310-0"), want: true, says: "cannot be read"},
		"Manual, RHCOS with half a version of RHEL": {enforced: rhcos("48.8.202208021106-0"), want: true, says: "cannot be read"},
		"Manual, whatever the targets do":           {enforced: release("4.14.0"), targets: stuck, before: couldNot, want: true},

		"Automatic at first, young":                   {enforced: auto("4.22.1"), want: true},
		"Automatic at first, old":                     {enforced: auto("4.12.0"), says: "4.12.0"},
		"Automatic at first, none":                    {enforced: auto("one"), says: "cannot be read"},
		"Automatic while one moves":                   {enforced: auto("4.12.0"), before: could, want: true, says: "as before"},
		"Automatic while one moves, and was not":      {enforced: auto("4.22.1"), before: couldNot, says: "as before"},
		"Automatic while one moves and one is stuck":  {enforced: auto("4.22.1"), targets: Targets{Stuck: []string{"a"}}, before: could, want: true, says: "as before"},
		"Automatic, settled":                          {enforced: auto("4.22.1"), targets: settled, before: couldNot, want: true},
		"Automatic, settled and old":                  {enforced: auto("4.12.0"), targets: settled, before: could, says: "4.12.0"},
		"Automatic, settled and none":                 {enforced: auto(""), targets: settled, before: could, says: "cannot be read"},
		"Automatic, settled and stuck":                {enforced: auto("4.22.1"), targets: stuck, before: could, says: "boot images of a, b cannot be moved"},
		"Automatic, of a young release and old RHCOS": {enforced: both, targets: settled, says: "RHEL 8.6"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Judge(!row.others, row.enforced, limits, row.targets, row.before)
			if got.Is != row.want || !strings.Contains(got.Message, row.says) || !got.Is && got.Reason != SkewError || got.Is && got.Reason != "" {
				t.Errorf("it is %+v, want %v (%q)", got, row.want, row.says)
			}
		})
	}
}

func TestParseLimits_refuses_what_is_none(t *testing.T) {
	for _, text := range []string{"", "4.13.0", "4.13,9.2", "4.13.0,9", "4.13.0,9.2,1", "4.13.0, 9.2", "9.2,4.13.0", "v4.13.0,9.2", "x,y"} {
		if limits, err := ParseLimits(text); err == nil {
			t.Errorf("%q is read as %+v", text, limits)
		}
	}
}
