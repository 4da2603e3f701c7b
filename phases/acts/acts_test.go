package acts_test

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/acts"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

const head = "by: anna\nat: 2026-01-31T12:00:00Z\nuntil: 2026-01-31T13:00:00Z\nreason: etcd is slow"

// aDigest has the form of one.
const aDigest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// endless is a head without an end by time.
const endless = "by: anna\nat: 2026-01-31T12:00:00Z\nreason: r"

func TestRead(t *testing.T) {
	long := strings.Repeat("x", acts.MaxLine-len("reason: "))
	for name, row := range map[string]struct{ act, text, wrong string }{
		"a pause":                           {acts.Pause, head, ""},
		"a user with colons":                {acts.Pause, strings.Replace(head, "anna", "system:serviceaccount:a:b", 1), ""},
		"a reason with a colon":             {acts.Pause, strings.Replace(head, "etcd", "etcd: it", 1), ""},
		"a reason as long as a line may be": {acts.Pause, strings.Replace(head, "etcd is slow", long, 1), ""},
		"objects to leave alone":            {acts.LeaveAlone, head + "\nobject: Deployment.apps a/b\nobject: Namespace a\nobject: ClusterRole.rbac.authorization.k8s.io system:a", ""},
		"a pin":                             {acts.Pin, head + "\nrevision: 4", ""},
		"a rollback":                        {acts.Pin, endless + "\nrevision: 4\nlist: abc", ""},
		"an adoption":                       {acts.Adopt, endless + "\nrevision: 4\nobject: ConfigMap a/b 12-34", ""},
		"a consent":                         {acts.ConsentToDelete, endless + "\nrevision: 4\nobject: Namespace a 12-34 0 " + aDigest + "\nobject: Namespace b 12-35 20 " + aDigest, ""},
		"an uninstallation":                 {acts.ConsentToUninstall, endless + "\nrevision: 4.22.0-0.nightly-2026-01-01-873bdf9a-4", ""},
		"the bare name of a revision":       {acts.ConsentToUninstall, "4.22.0-873bdf9a-4", `line 1: it is not as "key: value" is`},
		"an uninstallation by a number":     {acts.ConsentToUninstall, endless + "\nrevision: 4", "line 4: it does not say what revision is said of"},
		"one of two revisions":              {acts.ConsentToUninstall, endless + "\nrevision: a-873bdf9a-4\nrevision: a-873bdf9a-5", "line 5: revision does not stand in its place"},
		"one of no revision":                {acts.ConsentToUninstall, endless, "it does not say revision"},
		"one that time is to end":           {acts.ConsentToUninstall, head + "\nrevision: a-873bdf9a-4", "it says until, and no time ends it"},
		"no act":                            {"retry", head, "there is no act retry"},
		"nothing":                           {acts.Pause, "", `line 1: it is not as "key: value" is`},
		"a bare content ID":                 {acts.ConsentToDelete, "4", `line 1: it is not as "key: value" is`},
		"a line more than it has":           {acts.Pause, head + "\n", `line 5: it is not as "key: value" is`},
		"an item that it does not have":     {acts.Pause, head + "\nobject: Namespace a", "line 5: act pause has no item object"},
		"another order":                     {acts.Pause, "at: 2026-01-31T12:00:00Z\nby: anna", "line 1: it says at, where by stands"},
		"nobody":                            {acts.Pause, strings.Replace(head, "anna", "", 1), "line 1: by says nothing"},
		"no reason":                         {acts.Pause, strings.TrimSuffix(head, "\nreason: etcd is slow"), "it does not say reason"},
		"no reason of one without an end":   {acts.Adopt, "by: a\nat: 2026-01-31T12:00:00Z", "it does not say reason"},
		"no end":                            {acts.Pause, endless, "it does not say until"},
		"an end where nothing ends by time": {acts.Adopt, head + "\nrevision: 4\nobject: ConfigMap a/b 1", "it says until, and no time ends it"},
		"a rollback with an end":            {acts.Pin, head + "\nrevision: 4\nlist: abc", "it says both until and list"},
		"a time that is none":               {acts.Pause, strings.Replace(head, "T12:00:00Z", " noon", 1), "line 2: 2026-01-31 noon is no time"},
		"a time of another zone":            {acts.Pause, strings.Replace(head, "12:00:00Z", "12:00:00+02:00", 1), "is no time"},
		"parts of a second":                 {acts.Pause, strings.Replace(head, "12:00:00Z", "12:00:00.5Z", 1), "is no time"},
		"an end before the beginning":       {acts.Pause, strings.Replace(head, "13:00", "11:00", 1), "and may for 24h"},
		"an end at the beginning":           {acts.Pause, strings.Replace(head, "13:00", "12:00", 1), "and may for 24h"},
		"a day and a second":                {acts.Pause, strings.Replace(head, "01-31T13:00:00Z", "02-01T12:00:01Z", 1), "it lasts for 24h0m1s, and may for 24h"},
		"a line that is too long":           {acts.Pause, strings.Replace(head, "etcd is slow", long+"x", 1), "line 4: it has 513 bytes, and may have 512"},
		"a text that is too long":           {acts.Pause, strings.Repeat("x", acts.MaxBytes+1), "it has 16385 bytes, and may have 16384"},
		"what controls a terminal":          {acts.Pause, strings.Replace(head, "slow", "\x1b[31mslow", 1), "line 4: it has what cannot be printed"},

		"an object twice":                     {acts.LeaveAlone, head + "\nobject: Namespace a\nobject: Namespace a", "stands there twice"},
		"items in another order":              {acts.Adopt, endless + "\nobject: ConfigMap a/b 12\nrevision: 4", "line 5: revision does not stand in its place"},
		"two revisions":                       {acts.Adopt, endless + "\nrevision: 4\nrevision: 5\nobject: ConfigMap a/b 12", "line 5: revision does not stand in its place"},
		"an object without a kind":            {acts.LeaveAlone, head + "\nobject: a/b", "line 5: it does not say what object is said of"},
		"no object":                           {acts.LeaveAlone, head, "it does not say object"},
		"a revision that is no number":        {acts.Pin, head + "\nrevision: 04", "line 5: it does not say what revision is said of"},
		"an object to adopt without its UID":  {acts.Adopt, endless + "\nrevision: 4\nobject: ConfigMap a/b", "line 5: it does not say what object is said of"},
		"a consent without a digest":          {acts.ConsentToDelete, endless + "\nrevision: 4\nobject: Namespace a 12 1", "line 5: it does not say what object is said of"},
		"a digest that is none":               {acts.ConsentToDelete, endless + "\nrevision: 4\nobject: Namespace a 12 1 abc", "line 5: it does not say what object is said of"},
		"a consent without a revision":        {acts.ConsentToDelete, endless + "\nobject: Namespace a 12 1 " + aDigest, "it does not say revision"},
		"carriage returns at the end of line": {acts.Pause, strings.ReplaceAll(head, "\n", "\r\n"), "line 1: it has what cannot be printed"},
	} {
		t.Run(name, func(t *testing.T) {
			act, err := acts.Read(row.act, row.text)
			switch {
			case row.wrong == "" && err != nil:
				t.Fatal(err)
			case row.wrong != "" && (err == nil || !strings.Contains(err.Error(), row.wrong)):
				t.Fatalf("the error is %v, want %q in it", err, row.wrong)
			case row.wrong != "":
				return
			}
			if again, err := act.Text(); err != nil || again != row.text {
				t.Errorf("it is written as %q (%v)", again, err)
			}
		})
	}
}

func TestRead_takes_as_many_items_as_there_may_be(t *testing.T) {
	act := acts.Act{Name: acts.LeaveAlone, By: "anna", At: noon, Until: noon.Add(time.Hour), Reason: "r"}
	for i := range acts.MaxItems + 1 {
		act.Items = append(act.Items, acts.Said{Key: "object", Value: "Namespace a" + strings.Repeat("a", i)})
	}
	if _, err := act.Text(); err == nil || !strings.Contains(err.Error(), "there are more than 64 items") {
		t.Errorf("the error is %v", err)
	}
	act.Items = act.Items[1:]
	if _, err := act.Text(); err != nil {
		t.Error(err)
	}
}

func TestVoid_and_Turns(t *testing.T) {
	act, err := acts.Read(acts.Pause, head)
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		now   time.Time
		void  string
		turns time.Time
	}{
		"more than a minute before": {noon.Add(-61 * time.Second), "more than a minute ahead", noon.Add(-time.Minute)},
		"a minute before":           {noon.Add(-time.Minute), "", noon.Add(time.Hour)},
		"while it lasts":            {noon.Add(time.Minute), "", noon.Add(time.Hour)},
		"a moment before its end":   {noon.Add(time.Hour - 1), "", noon.Add(time.Hour)},
		"at its end":                {noon.Add(time.Hour), "it ended at 2026-01-31 13:00:00Z", time.Time{}},
		"long after":                {noon.Add(1000 * time.Hour), "it ended at 2026-01-31 13:00:00Z", time.Time{}},
	} {
		void := act.Void(row.now)
		if (void == "") != (row.void == "") || !strings.Contains(void, row.void) || !act.Turns(row.now).Equal(row.turns) {
			t.Errorf("%s: void is %q, and it turns at %s", name, void, act.Turns(row.now))
		}
	}
	endless, err := acts.Read(acts.Adopt, endless+"\nrevision: 4\nobject: ConfigMap a/b 12-34")
	if err != nil || endless.Void(noon.Add(1000*time.Hour)) != "" || !endless.Turns(noon).IsZero() {
		t.Errorf("an act that nothing ends: %v, %q, %s", err, endless.Void(noon.Add(1000*time.Hour)), endless.Turns(noon))
	}
}

func TestUnprintable_is_what_no_line_is_read_with(t *testing.T) {
	pattern := regexp.MustCompile(acts.Unprintable)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if text := string(r); r != utf8.RuneError && text != string(utf8.RuneError) && pattern.MatchString(text) != (message.Line(text) != text) {
			t.Errorf("%U: the pattern says %v", r, pattern.MatchString(text))
		}
	}
}

func TestRevisionName_is_of_an_act_that_is_for_one_by_its_name(t *testing.T) {
	for text, want := range map[string]struct {
		act, name, about string
		number           int64
	}{
		endless + "\nrevision: 4.22.0-873bdf9a-12":             {acts.ConsentToUninstall, "4.22.0-873bdf9a-12", "revision 4.22.0-873bdf9a-12", 12},
		endless + "\nrevision: 4\nobject: ConfigMap a/b 12-34": {acts.Adopt, "", "ConfigMap a/b", 4},
	} {
		act, err := acts.Read(want.act, text)
		if err != nil || act.RevisionName() != want.name || act.Revision() != want.number || act.About() != want.about {
			t.Errorf("%q is for %q, %d, about %q (%v)", text, act.RevisionName(), act.Revision(), act.About(), err)
		}
	}
}
