package bootimage

import (
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/machine"
)

func TestTouchable_tells_the_first_exclusion_that_fits(t *testing.T) {
	all := Others{
		Known: true, GoingAway: true, Claimed: "machine-config-operator", Owner: "MachineSetOwner x", Topology: true, Authority: "Migrating",
		Paused: "Cluster c", Inactive: true, Stream: "rhel-10", WantedStream: "rhel-9", Windows: true,
	}
	for _, row := range []struct {
		after   func(*Others)
		want    Exclusion
		says    string
		counted bool
	}{
		{func(*Others) {}, GoingAway, "being deleted", true},
		{func(o *Others) { o.GoingAway = false }, Claimed, "machine-config-operator, which claims status.managedBootImagesStatus", true},
		{func(o *Others) { o.Claimed = "" }, Owned, "owned by MachineSetOwner x, which would change it back", true},
		{func(o *Others) { o.Owner, o.OfDeployment = "MachineDeployment d", true }, Owned, "owned by MachineDeployment d", false},
		{func(o *Others) { o.Owner = "" }, TopologyOwned, "ClusterClass", true},
		{func(o *Others) { o.Topology = false }, NotAuthoritative, "being migrated", true},
		{func(o *Others) { o.Authority = ClusterAPI }, NotAuthoritative, "with its twin in ClusterAPI", true},
		{func(o *Others) { o.TwinCurrent = true }, NotAuthoritative, "with its twin in ClusterAPI", false},
		{func(o *Others) { o.Authority = MachineAPI }, Paused, "Cluster c is paused", true},
		{func(o *Others) { o.Paused = "" }, Inactive, "not Active", false},
		{func(o *Others) { o.Inactive = false }, OtherStream, "stream rhel-10, and the boot images are of rhel-9", false},
		{func(o *Others) { o.Stream = "rhel-9" }, Windows, "Windows", false},
		{func(o *Others) { o.Windows = false }, "", "nobody else", false},
	} {
		row.after(&all)
		facts := target(func(f *Facts) { f.Others = all })
		why, text, counted := Excluded(facts)
		answer, want := Touchable.Answer(facts), machine.No
		if row.want == "" {
			want, text = machine.Yes, answer.Reason
		}
		if why != row.want || !strings.Contains(text, row.says) || counted != row.counted || answer.Truth != want || answer.Reason != text {
			t.Errorf("it is %q (%q), counted %v, and answers %v; want %q (%q), counted %v", why, text, counted, answer, row.want, row.says, row.counted)
		}
	}
	if got := Touchable.Answer(target(func(f *Facts) { f.Others.Known = false })); got.Truth != machine.Unknown {
		t.Errorf("what is not seen answers %v", got)
	}
}

func TestSkipped_tells_the_remedy(t *testing.T) {
	const on = "kubectl annotate machinesets.machine.openshift.io -n openshift-machine-api a --overwrite "
	for skip, says := range map[Skip]string{
		NoImageID:    "name it by its ID",
		NoImageHere:  "no image for it (here): move it by hand, and record that in spec.bootImageSkewEnforcement",
		Foreign:      "image ami-old is not known to be a release's own (here); to have it replaced all the same: " + on + AdoptImageAnnotation + "='ami-old'",
		NeedsVCenter: "vCenter (here): move it by hand",
		EKSLookup:    "set spec.template.spec.ami.id",
		ImageFamily:  "set spec.template.spec.image",
		SecurityType: "its securityType asks",
		Unsupported:  "kind of template",
		ArchUnknown:  on + "capacity.cluster-autoscaler.kubernetes.io/labels='kubernetes.io/arch=ARCHITECTURE'",
		WouldRollOut: on + AllowRolloutAnnotation + "='true'",
		"Another":    "move it by hand",
	} {
		why, text, counted := Skipped(target(func(f *Facts) { f.Verdict.Skip, f.Verdict.Detail = skip, "here" }))
		if why != skip || !strings.HasPrefix(text, string(skip)+": ") || !strings.Contains(text, says) || !strings.Contains(text, "(here)") || !counted {
			t.Errorf("%s is told as %s %q, counted %v", skip, why, text, counted)
		}
	}
	if _, _, counted := Skipped(target(func(f *Facts) { f.Verdict.Skip, f.Verdict.Uncounted = SecurityType, true })); counted {
		t.Error("a skip that nobody waits for counts")
	}
	if why, text, counted := Skipped(target()); why != "" || text != "" || counted {
		t.Errorf("what is not skipped is told as %s %q, counted %v", why, text, counted)
	}
}

func TestSkipped_gives_no_command_that_does_something_else(t *testing.T) {
	for image, want := range map[string]string{
		"a'; reboot; '":          `='a'\''; reboot; '\'''`,
		"a\nkubectl delete all":  "=PRESENT-IMAGE",
		strings.Repeat("a", 999): "=PRESENT-IMAGE",
		"\u202eami":              "=PRESENT-IMAGE",
	} {
		_, text, _ := Skipped(target(foreign, func(f *Facts) { f.Target.Image = image }))
		if !strings.HasSuffix(text, want) || len(text) > machine.MaxMessage {
			t.Errorf("%q is told as %q", image, text)
		}
	}
}

func TestCommand_takes_away_what_holds_the_target_and_is_empty_where_nothing_does(t *testing.T) {
	const on = "kubectl annotate machinesets.machine.openshift.io -n openshift-machine-api a --overwrite "
	thrice := func(f *Facts) { f.Attempts.Made = MaxAttempts }
	for name, row := range map[string]struct {
		facts Facts
		want  string
	}{
		"it has the image":                   {target(moved), ""},
		"it has it, after three attempts":    {target(moved, thrice), ""},
		"nothing holds it":                   {target(), ""},
		"foreign":                            {target(foreign), on + AdoptImageAnnotation + "='ami-old'"},
		"it would roll out":                  {target(func(f *Facts) { f.Verdict.Skip = WouldRollOut }), on + AllowRolloutAnnotation + "='true'"},
		"nobody knows the architecture":      {target(func(f *Facts) { f.Verdict.Skip = ArchUnknown }), on + "capacity.cluster-autoscaler.kubernetes.io/labels='kubernetes.io/arch=ARCHITECTURE'"},
		"no command makes an image":          {target(func(f *Facts) { f.Verdict.Skip = NoImageHere }), ""},
		"nobody judges while the gate waits": {target(foreign, closed), ""},
		"three attempts were made":           {target(thrice), on + RetryAnnotation + "='1'"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Command(row.facts); got != row.want {
				t.Errorf("it is %q, want %q", got, row.want)
			}
		})
	}
}
