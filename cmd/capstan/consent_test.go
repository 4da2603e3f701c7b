package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/capstan-capi/capstan/cmd/capstan/asking"
	"github.com/capstan-capi/capstan/cmd/capstan/losses"
	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/acts"
)

var consented = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// consentTo is the text of an act of boris about Namespaces with an object each.
func consentTo(t *testing.T, revision int, names ...string) string {
	t.Helper()
	act := acts.Act{Name: acts.ConsentToDelete, By: "boris", At: consented, Reason: "r", Items: []acts.Said{{Key: "revision", Value: fmt.Sprint(revision)}}}
	for _, name := range names {
		act.Items = append(act.Items, acts.Said{Key: "object", Value: lossOf(name).Line()})
	}
	text, err := act.Text()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func lossOf(name string) losses.Loss {
	return losses.Loss{Object: "Namespace " + name, UID: "uid-" + name, Count: 1, Holds: "1 object", Digest: strings.Repeat("a", 64)}
}

func TestConsent_the_digest_covers_every_line_that_is_written(t *testing.T) {
	kept := asking.Kept{Retained: []guards.RetainedObject{{Object: "Namespace a"}, {Object: "Namespace b"}, {Object: "Namespace void", Void: "there are 2 now"}}}
	digests := map[string]string{}
	for name, row := range map[string]struct {
		text    string
		carried []string
	}{
		"nothing stands":             {"", nil},
		"another one stays":          {consentTo(t, 2, "b"), []string{lossOf("b").Line()}},
		"the same one":               {consentTo(t, 2, "a"), nil},
		"one that is void, one gone": {consentTo(t, 2, "void", "gone"), nil},
		"for another revision":       {consentTo(t, 1, "b"), nil},
	} {
		looked := asking.Looked{By: "anna", At: consented.Add(time.Minute), Newest: 2, Current: 2, Text: row.text}
		before, carried := carriedOver(looked, kept, []string{"Namespace a"})
		f := &consentFlags{reason: "r"}
		r, err := f.request(looked, []string{"Namespace a"}, losing{kept: kept, lost: []losses.Loss{lossOf("a")}, before: before, carried: carried})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(r.does.Carried, "\n") != strings.Join(row.carried, "\n") {
			t.Errorf("%s: it carries over %q", name, r.does.Carried)
		}
		if got := strings.Count(r.text, "\nobject: "); got != 1+len(row.carried) {
			t.Errorf("%s: it writes %d lines:\n%s", name, got, r.text)
		}
		for _, line := range row.carried {
			if want := "Consented to by boris since 2026-01-31 12:00:00Z, and from now on in your name: " + line; !strings.Contains(r.shows, want) {
				t.Errorf("%s: there is no %q in\n%s", name, want, r.shows)
			}
		}
		if !strings.Contains(r.shows, "\nDigest: "+r.does.Digest+"\n") {
			t.Errorf("%s: the digest is not shown:\n%s", name, r.shows)
		}
		digests[name] = r.does.Digest
	}
	if alone := lossOf("a").Digest; digests["nothing stands"] != alone || digests["the same one"] != alone || digests["another one stays"] == alone {
		t.Errorf("the digests are %q", digests)
	}
}

func TestConsent_tells_what_the_operator_cannot_tell_though_the_caller_can(t *testing.T) {
	blind := guards.RetainedObject{Object: "Namespace a", Why: "holds what nobody can tell, because the operator may not list secrets"}
	if text := retained(lossOf("a"), blind, consented); !strings.Contains(text, "\n  Operator: "+blind.Why+"\n") || strings.Contains(text, "Next:") {
		t.Errorf("got\n%s", text)
	}
	if text := retained(lossOf("a"), guards.RetainedObject{Object: "Namespace a", Why: "holds 1 object", Count: 1}, consented); strings.Contains(text, "Operator:") ||
		!strings.Contains(text, "\n  Next:    capstan consent Namespace/a --reason TEXT\n") {
		t.Errorf("got\n%s", text)
	}
	asks := losing{kept: asking.Kept{Retained: []guards.RetainedObject{blind}}, lost: []losses.Loss{lossOf("a")}}
	r, err := (&consentFlags{reason: "r"}).request(asking.Looked{By: "anna", At: consented, Newest: 2, Current: 2}, []string{"Namespace a"}, asks)
	if err != nil || !strings.Contains(r.shows, "  Operator: "+blind.Why+"; while that is so, it deletes nothing of it") {
		t.Errorf("got\n%s (%v)", r.shows, err)
	}
}

func TestConsent_shows_which_revision_awaits_one_and_the_command_to_copy(t *testing.T) {
	text := awaiting{Uninstall: "4.22.0-873bdf9a-2"}.text(nil, asking.Kept{Why: "w"})
	if !strings.HasSuffix(text, "\nRevision 4.22.0-873bdf9a-2 is not listed because it would end what runs: w\n  Next:    capstan consent --uninstall --reason TEXT\n") {
		t.Errorf("got\n%s", text)
	}
}

func TestConsent_to_uninstall_names_the_revision_what_ends_and_the_command_that_takes_it_back(t *testing.T) {
	ends := losses.Uninstall{
		Revision: "4.22.0-873bdf9a-2", Digest: strings.Repeat("a", 64), Counts: map[string]int{"Deployment.apps": 1},
		Removed: []losses.End{{Object: "Deployment.apps a/b", UID: "12", Verdict: "remove", Created: consented.Add(-time.Hour)}},
		Stays:   []losses.End{{Object: "Namespace a", UID: "13", Verdict: "retain", Why: "holds 2 objects"}},
	}
	for before, want := range map[string]string{
		"":                  "",
		"4.22.0-873bdf9a-2": "It takes the place of one that is void: line 1",
		"by: boris\nat: 2026-01-31T12:00:00Z\nreason: r\nrevision: 4.22.0-873bdf9a-1": "It takes the place of the one by boris since 2026-01-31 12:00:00Z for revision 4.22.0-873bdf9a-1: r",
	} {
		r, err := (&consentFlags{reason: "it moves"}).uninstallRequest(asking.Looked{By: "anna", At: consented, Text: before}, ends)
		if err != nil {
			t.Fatal(err)
		}
		if r.text != "by: anna\nat: 2026-01-31T12:00:00Z\nreason: it moves\nrevision: 4.22.0-873bdf9a-2" || r.name != acts.ConsentToUninstall || r.does.Revision != 2 {
			t.Errorf("it writes %q for revision %d", r.text, r.does.Revision)
		}
		for _, line := range []string{
			"Let revision 4.22.0-873bdf9a-2 end what runs, by anna, because: it moves\n", "Removed: 1 object (Deployment.apps 1)\n", "Deployment.apps a/b  60m",
			"Stays:   1 object\n", "holds 2 objects", "Digest:  " + ends.Digest + "\n", want,
			"Until it is used, this takes it back: kubectl annotate clusterapi cluster capi-operator.openshift.io/consent-to-uninstall-\n",
		} {
			if !strings.Contains(r.shows, line) {
				t.Errorf("there is no %q in\n%s", line, r.shows)
			}
		}
	}
}
