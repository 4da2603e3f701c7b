package clusterapi

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/recorder"
)

// emptied is a pass that plans to end what revision 1 has, with a text as consent.
func emptied(text string) *Pass {
	p := planned(&remembering{stored: engine.Inventories{Seen: true, Of: []engine.Held{held(1, "core", manager)}}}, listing(1), "")
	p.world.api.Annotations = map[string]string{acts.UninstallAct: text}
	p.Live = policies()
	return p
}

func TestAskUninstallConsent_obeys_one_act_for_one_revision_and_tells_why_it_obeys_no_other(t *testing.T) {
	const right = "4.22.5-aaaaaaaa-2"
	ahead := strings.Replace(consentFor(right), "12:00", "13:05", 1)
	for name, row := range map[string]struct {
		text  string
		plans func(*Pass)
		told  string // in what is told of the act
		asks  string // in what is said of the revision; empty: it is listed
		ended bool
	}{
		"the act for it":       {text: consentFor(right), told: "consent-to-uninstall of revision " + right + " by anna since 2020-01-31 12:00:00Z: it moves elsewhere"},
		"for another number":   {text: consentFor("4.22.5-aaaaaaaa-3"), plans: exactly, told: "and the one that awaits consent is " + right + "; capstan consent --uninstall shows that", asks: "the consent by anna is not for revision " + right},
		"for other content":    {text: consentFor("4.22.5-bbbbbbbb-2"), told: "(void: it is for revision 4.22.5-bbbbbbbb-2", asks: "the consent by anna is not for revision " + right},
		"for another release":  {text: consentFor("4.22.6-aaaaaaaa-2"), told: "(void: it is for revision 4.22.6-aaaaaaaa-2", asks: "the consent by anna is not for revision " + right},
		"for one that is past": {text: consentFor("4.22.5-aaaaaaaa-1"), told: "(ended: it is for revision 4.22.5-aaaaaaaa-1, and the newest has number 1)", asks: "the consent that is given has ended: it is for", ended: true},
		"from a little ahead":  {text: ahead, told: "more than a minute ahead", asks: "the consent that is given is void: it says that it was asked for at 2020-01-31 13:05"},
		"from the future":      {text: strings.Replace(consentFor(right), "2020", "2999", 1), told: "(ended: it says that it was asked for at 2999", asks: "the consent that is given has ended: it says that it was asked for at 2999", ended: true},
		"a bare name":          {text: right, told: "act consent-to-uninstall is void: line 1", asks: "the consent that is given is void: line 1"},
		"with a line too many": {text: consentFor(right) + "\nobject: Namespace a", told: "act consent-to-uninstall is void: line 5", asks: "is void: line 5"},
		"what needs no consent": {text: consentFor(right), plans: func(p *Pass) {
			p.Engine.(*remembering).stored.Of, p.world.api.Status.Revisions[0].Components = nil, nil
		}, told: "what the inputs ask for needs no consent"},
		"that is a day old": {text: consentFor(right), plans: func(p *Pass) {
			p.Phases.Now = func() time.Time { return consentedAt.Add(uninstallWithin) }
		}, told: "(ended: it was not used within 24h0m0s by the operator's clock", asks: "consent again, or look at the clocks", ended: true},
		"while nothing is planned": {text: consentFor(right), plans: func(p *Pass) { p.plan = plan{waiting: "an image"} }, told: "(not taken up yet: which revision the inputs ask for is not known yet)"},
	} {
		t.Run(name, func(t *testing.T) {
			p := emptied(row.text)
			if row.plans != nil {
				row.plans(p)
			}
			p.Display.Acts = p.readActs(t.Context())
			p.askUninstallConsent()
			told := p.toldConsent()
			if told == nil || !strings.Contains(told.String(), row.told) || told.Ended != row.ended {
				t.Errorf("told is %v, want %s", told, row.told)
			}
			if (p.plan.awaitsConsent == "") != (row.asks == "") || !strings.Contains(p.plan.awaitsConsent, row.asks) {
				t.Errorf("it says %q, want %q", p.plan.awaitsConsent, row.asks)
			}
			if counts := p.plan.consent != nil; counts != (p.uninstallConsentTold() != "") || counts != (name == "the act for it") {
				t.Errorf("it counts: %v, and %q is told", counts, p.uninstallConsentTold())
			}
		})
	}
}

// exactly has the API server asked already which number is the next.
func exactly(p *Pass) {
	p.memory.counted = counted{known: true, desired: p.world.desiredName(), highest: 1}
}

func TestAskUninstallConsent_obeys_no_act_that_has_ended_once_by_whatever_clock(t *testing.T) {
	const right = "4.22.5-aaaaaaaa-2"
	for name, row := range map[string]struct {
		first, then time.Duration // of the operator's clock, after it was asked
		counts      bool
	}{
		"a clock that was ahead by a day, and is set back": {25 * time.Hour, 23 * time.Hour, false},
		"seven weeks ahead, whose time comes":              {-49 * 24 * time.Hour, time.Minute, false},
		"a clock that is behind a little, and is set":      {-5 * time.Minute, 0, true},
	} {
		p := emptied(consentFor(right))
		look := func(now time.Duration) *guards.Act {
			p.Phases.Now = func() time.Time { return consentedAt.Add(now) }
			p.plan.awaitsConsent, p.plan.consentTo = "", ""
			p.Display.Acts = p.readActs(t.Context())
			p.askUninstallConsent()
			return p.toldConsent()
		}
		if told := look(row.first); told.Void == "" || told.Ended == row.counts || p.plan.consent != nil {
			t.Errorf("%s: at first told is %s", name, told)
		}
		if told := look(row.then); (p.plan.consent != nil) != row.counts || told.Ended == row.counts {
			t.Errorf("%s: then told is %s", name, told)
		}
		p.world.api.Annotations[acts.UninstallAct] = strings.Replace(consentFor(right), "12:00:00", "12:00:01", 1)
		if told := look(time.Minute); p.plan.consent == nil {
			t.Errorf("%s: of another one told is %s", name, told)
		}
	}
}

func TestReadActs_tells_a_consent_to_uninstall_as_used_once_its_revision_is_listed(t *testing.T) {
	p := emptied("")
	entry := NewEntry(p.Release, 2, p.plan.revision)
	p.world.api.Annotations[acts.UninstallAct] = consentFor(string(entry.Name))
	p.world.api.Status.Revisions = append(p.world.api.Status.Revisions, entry)
	p.world.api.Status.DesiredRevision = entry.Name
	if told := p.readActs(t.Context())[0]; !told.Ended || told.Used {
		t.Errorf("while nobody has proved who has listed it, told is %s", told)
	}
	p.proofs = proofs{engine.Proofs{Seen: true, Of: []engine.Proof{{Number: 2, Listed: ProofOf(entry)}}}}
	if told := p.readActs(t.Context())[0]; !told.Used || !strings.HasSuffix(told.String(), "it moves elsewhere (used)") {
		t.Errorf("told is %s", told)
	}
	if p.standing(acts.ConsentToUninstall) != nil {
		t.Error("it stands still")
	}
}

func TestPublish_lists_nothing_by_a_consent_that_is_taken_back_while_it_is_written(t *testing.T) {
	const right = "4.22.5-aaaaaaaa-2"
	for name, given := range map[string]string{"taken back": "", "given for another one": consentFor("4.22.5-aaaaaaaa-3"), "left as it is": consentFor(right)} {
		p := emptied(consentFor(right))
		there := serving(t, p.world.api)
		if err := there.Get(t.Context(), client.ObjectKeyFromObject(p.world.api), p.world.api); err != nil {
			t.Fatal(err)
		}
		meanwhile := func(ctx context.Context, c client.Client) error {
			now := &operatorv1alpha1.ClusterAPI{}
			if err := c.Get(ctx, client.ObjectKeyFromObject(p.world.api), now); err != nil {
				return err
			}
			now.Annotations = map[string]string{acts.UninstallAct: given, "another": "change"}
			return c.Update(ctx, now)
		}
		done := false
		p.Live = there
		p.Client = interceptor.NewClient(there.(client.WithWatch), interceptor.Funcs{
			SubResourceUpdate: func(ctx context.Context, c client.Client, subresource string, o client.Object, options ...client.SubResourceUpdateOption) error {
				if !done {
					done = true
					if err := meanwhile(ctx, there); err != nil {
						return err
					}
				}
				return c.SubResource(subresource).Update(ctx, o, options...)
			},
		})
		recorded := recording(t, p)
		p.recorder.Add(recorder.Asked(p.Now(), acts.ConsentToUninstall, "seen", "so that there is an entry"))
		p.askUninstallConsent()
		if err := p.publish(t.Context()); err != nil {
			t.Fatal(err)
		}
		now := &operatorv1alpha1.ClusterAPI{}
		if err := there.Get(t.Context(), client.ObjectKeyFromObject(p.world.api), now); err != nil {
			t.Fatal(err)
		}
		stands := given == consentFor(right)
		if listed := len(now.Status.Revisions) == 2; listed != stands || !done {
			t.Errorf("%s: there are %d revisions", name, len(now.Status.Revisions))
		}
		lines := recorded()
		used := slices.Contains(lines, "used consent-to-uninstall: revision "+right+", by anna: it moves elsewhere")
		if used != stands {
			t.Errorf("%s: recorded is %q", name, lines)
		}
	}
}

func TestEnters_has_the_consent_by_which_a_revision_is_listed(t *testing.T) {
	p := emptied(consentFor("4.22.5-aaaaaaaa-2"))
	p.askUninstallConsent()
	entered := p.enters(NewEntry(p.Release, 2, p.plan.revision))
	if want := []string{"consent-to-uninstall of revision 4.22.5-aaaaaaaa-2, by anna: it moves elsewhere"}; !slices.Equal(entered.Consents, want) {
		t.Errorf("the history has %q", entered.Consents)
	}
}

func TestSeeHistory_has_the_consent_of_a_revision_whose_listing_had_no_answer(t *testing.T) {
	const right = "4.22.5-aaaaaaaa-2"
	p := emptied(consentFor(right))
	there := serving(t, p.world.api)
	if err := there.Get(t.Context(), client.ObjectKeyFromObject(p.world.api), p.world.api); err != nil {
		t.Fatal(err)
	}
	p.Live = there
	p.Client = interceptor.NewClient(there.(client.WithWatch), interceptor.Funcs{
		SubResourceUpdate: func(ctx context.Context, c client.Client, subresource string, o client.Object, options ...client.SubResourceUpdateOption) error {
			return errors.Join(c.SubResource(subresource).Update(ctx, o, options...), context.DeadlineExceeded)
		},
	})
	recorded := recording(t, p)
	p.History = keeping(p, fake.NewFakeClient())
	if err := p.History.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.askUninstallConsent()
	if err := p.publish(t.Context()); err == nil {
		t.Fatal("the write has an answer")
	}
	now := &operatorv1alpha1.ClusterAPI{}
	if err := there.Get(t.Context(), client.ObjectKeyFromObject(p.world.api), now); err != nil {
		t.Fatal(err)
	}
	p.world.api, p.plan.consent, p.Live = now, nil, policies()
	p.proofs = proofs{engine.Proofs{Seen: true, Of: []engine.Proof{{Number: 2, Listed: ProofOf(now.Status.Revisions[1])}}}}
	pass := func(text string) []string {
		now.Annotations[acts.UninstallAct] = text
		p.Display.Acts = p.readActs(t.Context())
		p.seeHistory()
		h, _ := p.History.Known()
		return h.Of(2).Consents
	}
	want := []string{"consent-to-uninstall of revision " + right + ", by anna: it moves elsewhere"}
	for _, text := range []string{consentFor(right), consentFor(right), strings.Replace(consentFor(right), "anna", "bert", 1)} {
		if got := pass(text); !slices.Equal(got, want) {
			t.Errorf("the history has %q", got)
		}
	}
	if lines := recorded(); !slices.Equal(lines, []string{"used consent-to-uninstall: revision " + right + ", by anna: it moves elsewhere"}) {
		t.Errorf("recorded is %q", lines)
	}
}

func TestSeeHistory_has_no_consent_that_came_after_a_listing(t *testing.T) {
	p := emptied("")
	entry := NewEntry(p.Release, 2, p.plan.revision)
	p.world.api.Status.Revisions = append(p.world.api.Status.Revisions, entry)
	p.proofs = proofs{engine.Proofs{Seen: true, Of: []engine.Proof{{Number: 2, Listed: ProofOf(entry)}}}}
	p.History = keeping(p, fake.NewFakeClient())
	if err := p.History.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.History.List(p.enters(entry))
	p.world.api.Annotations[acts.UninstallAct] = consentFor(string(entry.Name))
	p.Display.Acts = p.readActs(t.Context())
	p.seeHistory()
	if h, _ := p.History.Known(); len(h.Of(2).Consents) > 0 {
		t.Errorf("the history has %q", h.Of(2).Consents)
	}
}

func TestAskUninstallConsent_takes_no_consent_twice_when_its_revision_is_taken_off_the_list(t *testing.T) {
	const right = "4.22.5-aaaaaaaa-2"
	p := emptied(consentFor(right))
	p.History = keeping(p, fake.NewFakeClient())
	if err := p.History.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.askUninstallConsent()
	entry := NewEntry(p.Release, 2, p.plan.revision)
	p.History.List(p.enters(entry))
	e := p.Engine.(*remembering)
	e.stored.Of, e.highest = append(e.stored.Of, held(2, "")), 2
	e.announced = []engine.Proof{{Number: 2, Announced: true, Listed: ProofOf(entry)}}
	p.proofs, p.plan.consent = proofs{e.Proofs()}, nil
	p.Display.Acts = p.readActs(t.Context())
	p.askUninstallConsent()
	if p.plan.consent != nil || !strings.Contains(p.plan.awaitsConsent, "revision 4.22.5-aaaaaaaa-3 would uninstall") {
		t.Errorf("it counts: %v, and asked is %q", p.plan.consent != nil, p.plan.awaitsConsent)
	}
	p.world.api.Annotations[acts.UninstallAct] = consentFor("4.22.5-aaaaaaaa-3")
	p.Display.Acts = p.readActs(t.Context())
	if p.askUninstallConsent(); p.plan.consent == nil {
		t.Errorf("of one for the next number told is %s", p.toldConsent())
	}
}

func TestAskUninstallConsent_waits_while_the_number_may_be_that_which_was_announced(t *testing.T) {
	const right = "4.22.5-aaaaaaaa-2"
	p := emptied(consentFor(right)) // the announcement was stored, the write failed, and the watch of inventories is late
	p.memory.counted = counted{known: true, desired: p.world.desiredName(), highest: 2}
	look := func() *guards.Act {
		p.Display.Acts = p.readActs(t.Context())
		p.askUninstallConsent()
		return p.toldConsent()
	}
	if told := look(); told.Void != "" || told.Waits == "" || p.plan.consent != nil {
		t.Errorf("told is %s", told)
	}
	p.proofs = proofs{engine.Proofs{Seen: true, Of: []engine.Proof{{Number: 2, Listed: "of another entry"}}}}
	if told := look(); told.Void == "" {
		t.Errorf("while the number is something else's, told is %s", told)
	}
}

func TestAct_that_is_used_is_told_as_that(t *testing.T) {
	act := guards.Act{Name: acts.ConsentToUninstall, About: "revision r", By: "anna", At: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), Reason: "it moves", Void: "revision r is listed", Ended: true, Used: true}
	if got := act.String(); got != "consent-to-uninstall of revision r by anna since 2026-01-31 12:00:00Z: it moves (used)" {
		t.Error(got)
	}
}
