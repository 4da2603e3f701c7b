package clusterapi

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/history"
)

const (
	aDigest    = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	consenting = "by: anna\nat: 2026-01-31T12:00:00Z\nreason: nobody needs it\nrevision: 2\nobject: CustomResourceDefinition.apiextensions.k8s.io as.test 12-34 3 " + aDigest
)

var theDefinition = engine.Key{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Name: "as.test"}

// consentedTo is a pass at noon over a ClusterAPI with a consent, when a revision is the newest.
func consentedTo(text string, newest int64) *Pass {
	p := acting(policies(), time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), map[string]string{acts.ConsentAct: text})
	p.world.api.Status.Revisions = []operatorv1alpha1.ClusterAPIInstallerRevision{{Name: "r", Revision: newest}}
	p.desired = &engine.Revision{Name: "r", Number: newest}
	return p
}

func TestConsents_are_what_an_act_names_for_the_newest_revision(t *testing.T) {
	for name, row := range map[string]struct {
		text   string
		newest int64
		void   string
		ended  bool
	}{
		"one that counts":         {consenting, 2, "", false},
		"for an older revision":   {consenting, 3, "it is for revision 2, and the newest is 3", true},
		"for one that is not yet": {consenting, 1, "it is for revision 2, and the newest is 1", true},
		"the former form":         {"2", 2, `line 1: it is not as "key: value" is`, false},
		"a content ID":            {aDigest, 2, `line 1: it is not as "key: value" is`, false},
		"from ahead":              {strings.Replace(consenting, "12:00", "12:05", 1), 2, "more than a minute ahead", false},
		"a digest that is none":   {strings.TrimSuffix(consenting, "f"), 2, "it does not say what object is said of", false},
	} {
		p := consentedTo(row.text, row.newest)
		told := p.readActs(t.Context())
		if len(told) != 1 || (told[0].Void == "") != (row.void == "") || !strings.Contains(told[0].Void, row.void) || told[0].Ended != row.ended {
			t.Errorf("%s: told is %+v", name, told)
		}
		given := p.consents(row.newest)
		if (len(given) == 1) != (row.void == "") || (p.consentText() == row.text) != (row.void == "") {
			t.Errorf("%s: %v, %q", name, given, p.consentText())
		}
		want := engine.Consent{UID: "12-34", Count: 3, Digest: aDigest, By: "anna", At: p.Now()}
		if got, is := given[theDefinition.Identity()]; is && got != want {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	if given := consentedTo(consenting, 2).consents(3); given != nil {
		t.Errorf("for another revision than is pruned for: %v", given)
	}
}

func TestConsentsNow_are_those_that_the_API_server_has(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*operatorv1alpha1.ClusterAPI)
		count  int
	}{
		"as they were seen":       {func(*operatorv1alpha1.ClusterAPI) {}, 1},
		"taken back meanwhile":    {func(o *operatorv1alpha1.ClusterAPI) { o.Annotations = nil }, 0},
		"of another one by now":   {func(o *operatorv1alpha1.ClusterAPI) { o.UID = "other" }, 0},
		"given for other objects": {func(o *operatorv1alpha1.ClusterAPI) { o.Annotations[acts.ConsentAct] += "0" }, 0},
	} {
		p := consentedTo(consenting, 2)
		p.readActs(t.Context())
		live := p.world.api.DeepCopy()
		row.change(live)
		scheme := runtime.NewScheme()
		if err := operatorv1alpha1.Install(scheme); err != nil {
			t.Fatal(err)
		}
		p.Live = fake.NewClientBuilder().WithScheme(scheme).WithObjects(live).Build()
		if given, err := p.consentsNow(t.Context(), 2); len(given) != row.count || err != nil {
			t.Errorf("%s: %v, %v", name, given, err)
		}
	}
	p := consentedTo(consenting, 2)
	p.readActs(t.Context())
	p.Live = failing{}
	if given, err := p.consentsNow(t.Context(), 2); given != nil || err == nil {
		t.Errorf("without an answer: %v, %v", given, err)
	}
}

func TestLosing_writes_the_history_without_having_the_deletion_wait_long(t *testing.T) {
	for name, err := range map[string]error{"it is written": nil, "it is not": errors.New("expected")} {
		p := consentedTo(consenting, 2)
		asked := false
		stored := interceptor.NewClient(fake.NewFakeClient(), interceptor.Funcs{
			Create: func(ctx context.Context, _ client.WithWatch, _ client.Object, _ ...client.CreateOption) error {
				if _, bounded := ctx.Deadline(); !bounded {
					t.Errorf("%s: the deletion waits for as long as the write takes", name)
				}
				asked = true
				return err
			},
		})
		p.History = history.New(stored, stored, "ns", func() {}, clocktesting.NewFakeClock(p.Now()), logr.Discard())
		if err := p.History.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.History.List(history.Revision{Number: 2, Name: "r"})
		if p.losing(t.Context())(theDefinition, "12-34"); !asked {
			t.Errorf("%s: nobody has tried", name)
		}
	}
}

func TestTellConsents_notes_each_use_once(t *testing.T) {
	p := consentedTo(consenting, 2)
	c := fake.NewFakeClient()
	p.History = history.New(c, c, "ns", func() {}, clocktesting.NewFakeClock(p.Now()), logr.Discard())
	if err := p.History.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.History.List(history.Revision{Number: 2, Name: "r"})
	stored := recording(t, p)
	going := engine.Orphan{Key: theDefinition, Action: engine.Terminating, Consented: true}
	other := engine.Orphan{Key: engine.Key{Kind: "ConfigMap", Name: "a"}, Action: engine.Terminating}
	before := &engine.TeardownReport{Waiting: []engine.Orphan{other, going}}
	p.tellConsents(before, nil)
	p.tellConsents(&engine.TeardownReport{Gone: []engine.Orphan{other, going}}, before)
	known, _ := p.History.Known()
	const want = "consent-to-delete of CustomResourceDefinition as.test (UID 12-34) with 3 that it held, by anna"
	if got := known.Revisions[0].Consents; len(got) != 1 || got[0] != want {
		t.Errorf("the history has %q", got)
	}
	void := engine.Orphan{Key: engine.Key{Version: "v1", Kind: "Namespace", Name: "n"}, Action: engine.Retained, Void: "there are 4 now"}
	for range 2 {
		p.tellConsents(&engine.TeardownReport{Retained: []engine.Orphan{void}}, before)
		before = &engine.TeardownReport{Retained: []engine.Orphan{void}}
	}
	recorded := []string{"used consent-to-delete: CustomResourceDefinition as.test (UID 12-34) with 3 that it held, by anna", "void consent-to-delete: Namespace n: there are 4 now"}
	if got := stored(); !slices.Equal(got, recorded) {
		t.Errorf("recorded is %q, want %q", got, recorded)
	}
}

func TestVoided_are_the_objects_of_which_a_consent_does_not_count(t *testing.T) {
	retained := []guards.RetainedObject{{Object: "Namespace a"}, {Object: "Namespace b", Void: "the consent by anna does not count"}}
	if got := voided(retained); len(got) != 1 || got[0].String() != "Namespace b: the consent by anna does not count" {
		t.Errorf("got %v", got)
	}
	events := eventsOf(Detail{}, Detail{Retained: retained}, guards.Display{Retained: retained})
	if last := events[len(events)-1]; last.Reason != "ConsentVoid" || !last.Warns {
		t.Errorf("the last Event is %+v", last)
	}
	if events := eventsOf(Detail{Retained: retained}, Detail{Retained: retained}, guards.Display{Retained: retained}); len(events) > 0 {
		t.Errorf("what is known is told again: %+v", events)
	}
}
