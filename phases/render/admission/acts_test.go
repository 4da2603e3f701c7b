package admission_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiserver "k8s.io/apiserver/pkg/admission"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/render/admission/admissiontest"
)

// clusterAPI is ClusterAPI cluster with an annotation, or without any.
func clusterAPI(key, value string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operator.openshift.io/v1alpha1", "kind": "ClusterAPI", "metadata": map[string]any{"name": "cluster"},
	}}
	if key != "" {
		o.SetAnnotations(map[string]string{key: value, "another": "annotation"})
	}
	return o
}

// aDigest has the form of one, and forRevision4 is the head of an act that no time ends.
const (
	aDigest      = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	forRevision4 = "by: anna\nat: 2026-01-31T12:00:00Z\nreason: r\nrevision: 4"
)

func anAct(name string, change func(*acts.Act)) acts.Act {
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	act := acts.Act{Name: name, By: "anna", At: at, Until: at.Add(time.Hour), Reason: "etcd: is slow"}
	if change != nil {
		change(&act)
	}
	return act
}

func said(pairs ...string) []acts.Said {
	var items []acts.Said
	for i := 0; i < len(pairs); i += 2 {
		items = append(items, acts.Said{Key: pairs[i], Value: pairs[i+1]})
	}
	return items
}

func TestActs_take_what_is_written_of_every_act_from_whom_it_names_and_who_has_the_verb(t *testing.T) {
	for name, act := range map[string]acts.Act{
		"a pause":     anAct(acts.Pause, nil),
		"the longest": anAct(acts.Pause, func(a *acts.Act) { a.Until = a.At.Add(24 * time.Hour) }),
		"left alone":  anAct(acts.LeaveAlone, func(a *acts.Act) { a.Items = said("object", "Deployment.apps a/b", "object", "Namespace c") }),
		"a pin":       anAct(acts.Pin, func(a *acts.Act) { a.Items = said("revision", "4") }),
		"a rollback":  anAct(acts.Pin, func(a *acts.Act) { a.Until, a.Items = time.Time{}, said("revision", "4", "list", "abc") }),
		"an adoption": anAct(acts.Adopt, func(a *acts.Act) {
			a.Until, a.Items = time.Time{}, said("revision", "4", "object", "ConfigMap a/b 12-34")
		}),
		"a consent": anAct(acts.ConsentToDelete, func(a *acts.Act) {
			a.Until, a.Items = time.Time{}, said("revision", "4", "object", "CustomResourceDefinition.apiextensions.k8s.io as.b 12-34 3 "+aDigest, "object", "Namespace c 12-35 0 "+aDigest)
		}),
		"an uninstallation": anAct(acts.ConsentToUninstall, func(a *acts.Act) { a.Until, a.Items = time.Time{}, said("revision", "4.22.0-873bdf9a-4") }),
		"a long pinning":    anAct(acts.Pin, func(a *acts.Act) { a.Until, a.Items = a.At.Add(30*24*time.Hour), said("revision", "4") }),
	} {
		t.Run(name, func(t *testing.T) {
			text, err := act.Text()
			if err != nil {
				t.Fatal(err)
			}
			form, _ := acts.FormOf(act.Name)
			set, none := clusterAPI(acts.Annotation(act.Name), text), clusterAPI("", "")
			for _, row := range []struct {
				what, user string
				verbs      []string
				now, old   *unstructured.Unstructured
				refused    string
			}{
				{"set", "anna", []string{form.Verb}, set, none, ""},
				{"made with the object", "anna", []string{form.Verb}, set, nil, ""},
				{"set by somebody else", "berta", []string{form.Verb}, set, none, "is not an act of berta within its limits"},
				{"set without the verb", "anna", []string{"update", "intervene"}, set, none, "takes the verb " + form.Verb + " on clusterapis.operator.openshift.io cluster"},
				{"removed by another one who may", "berta", []string{form.Verb}, none, set, ""},
				{"removed without the verb", "anna", nil, none, set, "takes the verb " + form.Verb},
				{"gone with the object", "anna", nil, nil, set, "takes the verb " + form.Verb},
				{"left as it is", "berta", nil, set, set, ""},
			} {
				refused := refusal(t, row.user, row.verbs, row.now, row.old)
				if (refused == "") != (row.refused == "") || !strings.Contains(refused, row.refused) {
					t.Errorf("%s: the answer is %q", row.what, refused)
				}
			}
		})
	}
}

func TestActs_refuse_what_is_not_written_as_an_act_is(t *testing.T) {
	const head, alone = "by: anna\nat: 2026-01-31T12:00:00Z\nuntil: 2026-01-31T13:00:00Z\nreason: r", "\nobject: Namespace a"
	for name, row := range map[string]struct{ act, text string }{
		"a word":                       {acts.Pause, "yes"},
		"no reason":                    {acts.Pause, strings.TrimSuffix(head, "\nreason: r")},
		"no end":                       {acts.Pause, strings.Replace(head, "\nuntil: 2026-01-31T13:00:00Z", "", 1)},
		"an end before the beginning":  {acts.Pause, strings.Replace(head, "T13", "T11", 1)},
		"more than a day":              {acts.Pause, strings.Replace(head, "31T13:00:00", "32T12:00:01", 1)},
		"a day and a second":           {acts.Pause, strings.Replace(head, "01-31T13:00:00", "02-01T12:00:01", 1)},
		"another zone":                 {acts.Pause, strings.Replace(head, "13:00:00Z", "13:00:00+01:00", 1)},
		"a line more":                  {acts.Pause, head + "\n"},
		"an item of another act":       {acts.Pause, head + alone},
		"a line of 513 bytes":          {acts.Pause, head + strings.Repeat("x", acts.MaxLine)},
		"what controls a terminal":     {acts.Pause, head + "\x1b[31m"},
		"an older control character":   {acts.Pause, head + "\u0085"},
		"one that a terminal may obey": {acts.Pause, head + "\u009b31m"},
		"the end of a line":            {acts.Pause, head + "\u2028"},
		"the end of a paragraph":       {acts.Pause, head + "\u2029"},
		"another direction":            {acts.LeaveAlone, head + "\nobject: Namespace \u202ea"},
		"an isolated direction":        {acts.LeaveAlone, head + "\nobject: Namespace \u2066a\u2069"},
		"what nobody sees":             {acts.Adopt, forRevision4 + "\nobject: ConfigMap a/\u200bb 12"},
		"a carriage return":            {acts.Pause, strings.ReplaceAll(head, "\n", "\r\n")},
		"nothing that is left alone":   {acts.LeaveAlone, head},
		"65 objects":                   {acts.LeaveAlone, head + strings.Repeat(alone, acts.MaxItems+1)},
		"an object without a kind":     {acts.LeaveAlone, head + "\nobject: a/b"},
		"more than 16 KiB":             {acts.LeaveAlone, head + strings.Repeat(alone+strings.Repeat("a", 400), 60)},
		"a pin to nothing":             {acts.Pin, head},
		"a pin to 0":                   {acts.Pin, head + "\nrevision: 0"},
		"a rollback with an end":       {acts.Pin, head + "\nrevision: 4\nlist: abc"},
		"a pin without an end":         {acts.Pin, strings.Replace(head, "\nuntil: 2026-01-31T13:00:00Z", "", 1) + "\nrevision: 4"},
		"an adoption with an end":      {acts.Adopt, head + "\nrevision: 4\nobject: ConfigMap a/b 12"},
		"an adoption without a UID":    {acts.Adopt, "by: anna\nat: 2026-01-31T12:00:00Z\nreason: r\nrevision: 4\nobject: ConfigMap a/b"},
		"an adoption without a number": {acts.Adopt, "by: anna\nat: 2026-01-31T12:00:00Z\nreason: r\nobject: ConfigMap a/b 12"},
		"a bare number":                {acts.ConsentToDelete, "4"},
		"a bare content ID":            {acts.ConsentToDelete, aDigest},
		"a consent to nothing":         {acts.ConsentToDelete, forRevision4},
		"a consent with an end":        {acts.ConsentToDelete, head + "\nrevision: 4\nobject: Namespace a 12 1 " + aDigest},
		"a consent without a number":   {acts.ConsentToDelete, "by: anna\nat: 2026-01-31T12:00:00Z\nreason: r\nobject: Namespace a 12 1 " + aDigest},
		"a consent without a UID":      {acts.ConsentToDelete, forRevision4 + "\nobject: Namespace a 1 " + aDigest},
		"a consent without a count":    {acts.ConsentToDelete, forRevision4 + "\nobject: Namespace a 12 " + aDigest},
		"a count that is none":         {acts.ConsentToDelete, forRevision4 + "\nobject: Namespace a 12 01 " + aDigest},
		"a consent without a digest":   {acts.ConsentToDelete, forRevision4 + "\nobject: Namespace a 12 1"},
		"a digest that is too short":   {acts.ConsentToDelete, forRevision4 + "\nobject: Namespace a 12 1 " + aDigest[1:]},
		"a digest that is too long":    {acts.ConsentToDelete, forRevision4 + "\nobject: Namespace a 12 1 a" + aDigest},
		"a digest in capitals":         {acts.ConsentToDelete, forRevision4 + "\nobject: Namespace a 12 1 " + strings.ToUpper(aDigest)},
		"a bare name":                  {acts.ConsentToUninstall, "4.22.0-873bdf9a-4"},
		"an uninstallation by number":  {acts.ConsentToUninstall, forRevision4},
		"one of two revisions":         {acts.ConsentToUninstall, forRevision4 + "\nrevision: 4.22.0-873bdf9a-5"},
		"an uninstallation of nothing": {acts.ConsentToUninstall, strings.TrimSuffix(forRevision4, "\nrevision: 4")},
		"a number that begins with 0":  {acts.ConsentToUninstall, forRevision4 + ".22.0-873bdf9a-04"},
		"content that is none":         {acts.ConsentToUninstall, forRevision4 + ".22.0-873bdf9-4"},
		"an uninstallation with a end": {acts.ConsentToUninstall, head + "\nrevision: 4.22.0-873bdf9a-4"},
		"65 consents":                  {acts.ConsentToDelete, forRevision4 + strings.Repeat("\nobject: Namespace a 12 1 "+aDigest, acts.MaxItems+1)},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := acts.Read(row.act, row.text); err == nil {
				t.Error("the operator would obey it")
			}
			verbs := []string{"pause", "pin", "adopt", "consent"}
			if refused := refusal(t, "anna", verbs, clusterAPI(acts.Annotation(row.act), row.text), clusterAPI("", "")); refused == "" {
				t.Error("it is let through")
			}
		})
	}
}

// A number, and the bare name of a revision, were the former forms, and may stand there when this release comes.
func TestActs_let_a_consent_of_the_former_form_stay_and_go(t *testing.T) {
	for act, text := range map[string]string{acts.ConsentAct: "4", acts.UninstallAct: "4.22.0-873bdf9a-4"} {
		former, none := clusterAPI(act, text), clusterAPI("", "")
		if refused := refusal(t, "anna", []string{"update"}, former, former); refused != "" {
			t.Error(refused)
		}
		if refused := refusal(t, "anna", []string{"consent"}, none, former); refused != "" {
			t.Error(refused)
		}
		if refused := refusal(t, "anna", []string{"pause"}, none, former); !strings.Contains(refused, "consent-to-delete or consent-to-uninstall takes the verb consent") {
			t.Errorf("the answer is %q", refused)
		}
	}
}

func TestActs_hold_all_but_annotations_to_that_to_update(t *testing.T) {
	none, other, owned, kept := clusterAPI("", ""), clusterAPI("", ""), clusterAPI("", ""), clusterAPI("", "")
	owned.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "gone"}})
	kept.SetFinalizers([]string{"example.com/never"})
	other.Object["spec"] = map[string]any{"unmanagedCustomResourceDefinitions": []any{"as.b"}}
	for _, row := range []struct {
		verbs    []string
		now, old *unstructured.Unstructured
		refused  string
	}{
		{[]string{"pause", "consent", "pin", "adopt"}, other, none, "takes the verb update on it"},
		{[]string{"pause"}, none, other, "takes the verb update on it"},
		{[]string{"pause"}, owned, none, "takes the verb update on it"},
		{[]string{"pause"}, kept, none, "takes the verb update on it"},
		{[]string{"pause"}, none, kept, "takes the verb update on it"},
		{[]string{"update"}, other, none, ""},
		{[]string{"update"}, owned, kept, ""},
		{nil, other, other, ""},
	} {
		if refused := refusal(t, "anna", row.verbs, row.now, row.old); (refused == "") != (row.refused == "") || !strings.Contains(refused, row.refused) {
			t.Errorf("with %q the answer is %q, and not %q", row.verbs, refused, row.refused)
		}
	}
}

func TestActs_cost_little_beside_asking_for_a_right(t *testing.T) {
	const verbCost, limit = 350_000, 100_000
	largest := anAct(acts.LeaveAlone, func(a *acts.Act) {
		for i := range 31 {
			a.Items = append(a.Items, acts.Said{Key: "object", Value: "Deployment.apps a/" + strings.Repeat("b", 440+i)})
		}
	})
	text, err := largest.Text()
	if err != nil {
		t.Fatal(err)
	}
	var dearest int64
	for _, answer := range asked(t, "capstan-acts", admissiontest.Request{
		Operation: apiserver.Update, Object: clusterAPI(acts.Annotation(acts.LeaveAlone), text), Old: clusterAPI("", ""), User: "anna", Verbs: []string{"pause"},
	}) {
		if answer.Refused != "" {
			t.Error(answer.Refused)
		}
		dearest = max(dearest, answer.Cost)
	}
	if dearest > verbCost+limit || dearest > celconfig.PerCallLimit {
		t.Errorf("an expression costs %d", dearest)
	}
}

// refusal is why an act is refused, empty if it is not.
func refusal(t *testing.T, user string, verbs []string, now, old *unstructured.Unstructured) string {
	t.Helper()
	request := admissiontest.Request{Operation: apiserver.Update, Object: now, Old: old, User: user, Verbs: verbs}
	switch {
	case now == nil:
		request.Operation = apiserver.Delete
	case old == nil:
		request.Operation = apiserver.Create
	}
	for _, answer := range asked(t, "capstan-acts", request) {
		if answer.Refused != "" {
			return answer.Refused
		}
	}
	return ""
}

func TestActs_are_refused_for_the_same_characters_by_the_policy_and_by_the_operator(t *testing.T) {
	const head = "by: anna\nat: 2026-01-31T12:00:00Z\nuntil: 2026-01-31T13:00:00Z\nreason: r"
	for _, r := range slices.Concat(every(0x7e, 0xa1, 1), every(0x2027, 0x2030, 1), every(0x2064, 0x206a, 1), every(0x100, 0x10ffff, 0x7f3f), []rune{0, '\t', '\r', 0x1b, 'a', 'é', 0xad, 0x61c, 0x180e, 0xd7ff, 0xe000, 0xfeff, 0xfffd, 0xfffe}) {
		if r == '\n' || r == ' ' || r >= 0xd800 && r < 0xe000 { // the end of a line, what no line ends in, and halves of characters
			continue
		}
		text := head + string(r)
		_, err := acts.Read(acts.Pause, text)
		if refused := refusal(t, "anna", []string{"pause"}, clusterAPI(acts.Annotation(acts.Pause), text), clusterAPI("", "")); (refused == "") != (err == nil) {
			t.Errorf("%U: the policy says %q, the operator %v", r, refused, err)
		}
	}
}

// every is each of the characters in a step.
func every(from, to, step rune) (all []rune) {
	for r := from; r <= to; r += step {
		all = append(all, r)
	}
	return all
}
