package clusterapi

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/render"
)

// remembering is an engine of which nothing is asked but what inventories and numbers there are.
type remembering struct {
	Engine
	stored  engine.Inventories
	highest int64
	// announced are what the watch shows of announcements.
	announced []engine.Proof
	// asked counts how often the number was asked for.
	asked int
}

func (r *remembering) Announce(context.Context, engine.RevisionRef) error { return nil }
func (r *remembering) Proofs(...int64) engine.Proofs {
	return engine.Proofs{Seen: r.stored.Seen, Err: r.stored.Err, Of: r.announced}
}
func (r *remembering) Inventories() engine.Inventories { return r.stored }
func (r *remembering) HighestNumber(_ context.Context, listed int64) (int64, error) {
	r.asked++
	return max(r.highest, listed), nil
}

var (
	manager  = engine.Key{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "capi", Name: "manager"}
	settings = engine.Key{Version: "v1", Kind: "ConfigMap", Namespace: "capi", Name: "settings"}
)

func held(number int64, component string, keys ...engine.Key) engine.Held {
	h := engine.Held{Number: number}
	for _, key := range keys {
		h.Objects = append(h.Objects, engine.HeldObject{Key: key, Component: component})
	}
	return h
}

// listing is a ClusterAPI that lists revisions of the component core; the first is current.
func listing(numbers ...int64) *operatorv1alpha1.ClusterAPI {
	api := singleton()
	for _, number := range numbers {
		entry := NewEntry("4.22.5", number, &render.Revision{ContentID: strings.Repeat("0", 64), Components: []render.Component{{Name: "core"}}})
		api.Status.Revisions = append(api.Status.Revisions, entry)
		api.Status.DesiredRevision = entry.Name
	}
	if len(numbers) > 0 {
		api.Status.CurrentRevision = api.Status.Revisions[0].Name
	}
	return api
}

// nothingCurrent lists the same, and the current one was taken out.
func nothingCurrent(numbers ...int64) *operatorv1alpha1.ClusterAPI {
	api := listing(numbers...)
	api.Status.CurrentRevision = ""
	return api
}

// consentFor is an act of anna that lets the revision of a name end what runs.
// consentedAt is when acts here were asked for.
var consentedAt = time.Date(2020, 1, 31, 12, 0, 0, 0, time.UTC)

func consentFor(revision string) string {
	return "by: anna\nat: 2020-01-31T12:00:00Z\nreason: it moves elsewhere\nrevision: " + revision
}

// planned is a pass that has planned content of these components, which render to these objects. An act consents to the revision of a
// name; empty for none.
func planned(e Engine, api *operatorv1alpha1.ClusterAPI, consent string, components ...engine.Component) *Pass {
	p := &Phases{Engine: e, Release: "4.22.5", Now: func() time.Time { return consentedAt.Add(time.Hour) }}
	w := world{api: api, current: api.Status.CurrentRevision}
	if consent != "" {
		api.Annotations = map[string]string{acts.UninstallAct: consentFor(consent)}
	}
	content := &render.Revision{ContentID: strings.Repeat("a", 64)}
	for _, c := range components {
		content.Components = append(content.Components, render.Component{Name: c.Name})
	}
	p.memory.rendered.components, p.memory.unneeded = components, unneeded{}
	return &Pass{Phases: p, world: w, plan: plan{revision: content}}
}

func TestAskUninstallConsent_judges_what_runs_by_the_inventory_whatever_images_are_at_hand(t *testing.T) {
	core := engine.Component{Name: "core", Objects: configMaps("settings")}
	other := engine.Component{Name: "other", Objects: configMaps("settings")}
	bare := images.Ref("registry.example.com/core@" + digest)
	for name, row := range map[string]struct {
		api      *operatorv1alpha1.ClusterAPI
		stored   []engine.Held
		unseen   bool
		broken   error
		bare     bool
		revision []engine.Component
		asks     string // empty: it is planned
		waits    bool
	}{
		"a component that has lost its workloads":                      {api: listing(1), stored: []engine.Held{held(1, "core", manager, settings)}, revision: []engine.Component{core}, asks: "the workloads of component core (Deployment capi/manager)"},
		"also while the list is lost":                                  {api: listing(), stored: []engine.Held{held(4, "core", manager)}, revision: []engine.Component{core}, asks: "4.22.5-aaaaaaaa-5 would uninstall the workloads of component core"},
		"by the newest, while the list is lost":                        {api: listing(), stored: []engine.Held{held(3, "core", manager), held(4, "core", settings)}, revision: []engine.Component{core}},
		"by the current one, whatever was begun after it":              {api: listing(1, 2), stored: []engine.Held{held(1, "core", manager), held(2, "core", settings)}, revision: []engine.Component{core}, asks: "the workloads of component core"},
		"by the desired one, when it is not current any more":          {api: nothingCurrent(5), stored: []engine.Held{held(5, "core", manager)}, revision: []engine.Component{core}, asks: "the workloads of component core"},
		"by the desired one, which was to replace an older one":        {api: nothingCurrent(4, 5), stored: []engine.Held{held(4, "core", settings), held(5, "core", manager)}, asks: "every component (core)"},
		"by none that was begun after the desired one":                 {api: nothingCurrent(5), stored: []engine.Held{held(5, "core", settings), held(6, "core", manager)}, revision: []engine.Component{core}},
		"one that never had any":                                       {api: listing(1), stored: []engine.Held{held(1, "core", settings)}, revision: []engine.Component{core}},
		"nothing is left, and only the list tells what there was":      {api: listing(1), asks: "every component (core)"},
		"nothing is left, and only an inventory tells what there was":  {api: listing(), stored: []engine.Held{held(1, "core", settings)}, asks: "every component (core)"},
		"nothing was ever there":                                       {api: listing()},
		"while nothing is known of inventories, planning waits":        {api: listing(), unseen: true, revision: []engine.Component{core}, waits: true},
		"while they cannot be watched, that is the error":              {api: listing(), unseen: true, broken: errors.New("no watch"), revision: []engine.Component{core}, asks: "no watch"},
		"a component that left the list":                               {api: listing(1), stored: []engine.Held{held(1, "core", manager)}, revision: []engine.Component{other}},
		"a component that is missing, and an image without its folder": {api: listing(1), stored: []engine.Held{held(1, "core", manager)}, revision: []engine.Component{other}, bare: true, asks: "component core, while image " + bare.Short() + " has no folder " + images.ManifestsFolder},
		"an image without its folder, and every component that was":    {api: listing(1), stored: []engine.Held{held(1, "core", settings)}, revision: []engine.Component{core}, bare: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := planned(&remembering{stored: engine.Inventories{Seen: !row.unseen, Err: row.broken, Of: row.stored}}, row.api, "", row.revision...)
			if row.bare {
				p.world.refs, p.memory.unneeded[bare] = []images.Ref{bare}, brings{}
			}
			p.askUninstallConsent()
			switch {
			case row.waits:
				if p.plan.revision != nil || p.plan.waiting == "" || p.plan.err != nil {
					t.Errorf("it does not wait: %+v", p.plan)
				}
			case row.asks == "":
				if p.plan.revision == nil || p.plan.err != nil || p.plan.waiting != "" || p.plan.awaitsConsent != "" {
					t.Errorf("it is not planned: %q, %v", p.plan.waiting, p.plan.err)
				}
			case p.world.desiredEntry() == nil && (p.plan.revision != nil || p.plan.err == nil || !strings.Contains(p.plan.err.Error(), row.asks)):
				t.Errorf("got %v, want it to ask for %s", p.plan.err, row.asks)
			case p.world.desiredEntry() != nil && (p.plan.err != nil || !strings.Contains(p.plan.awaitsConsent, row.asks)):
				t.Errorf("got %q, want it to ask for %s", p.plan.awaitsConsent, row.asks)
			}
		})
	}
}

func TestPublish_accepts_the_consent_that_it_asked_for_also_when_a_number_was_used_that_nobody_sees(t *testing.T) {
	api := listing(1)
	written := serving(t, api)
	e := &remembering{stored: engine.Inventories{Seen: true, Of: []engine.Held{held(1, "core", manager)}}, highest: 6}
	attempt := func(consent string, before counted) (counted, string) {
		p := planned(e, api.DeepCopy(), consent)
		p.Client, p.memory.counted = written, before
		for range 2 { // what publish finds out is told by the next pass
			if p.askUninstallConsent(); p.plan.awaitsConsent != "" {
				break
			}
			if err := p.publish(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return p.memory.counted, p.plan.awaitsConsent
	}
	highest, asked := attempt("", counted{})
	if want := "revision 4.22.5-aaaaaaaa-2 would uninstall"; !strings.Contains(asked, want) {
		t.Fatalf("it asks %q, want %s", asked, want)
	}
	highest, asked = attempt("4.22.5-aaaaaaaa-2", highest)
	if want := "not for revision 4.22.5-aaaaaaaa-7"; !strings.HasSuffix(asked, want) {
		t.Fatalf("it says %q, want %s", asked, want)
	}
	if _, again := attempt("4.22.5-aaaaaaaa-2", highest); again != asked {
		t.Errorf("it asks for another one now: %q, %q", asked, again)
	}
	for _, other := range []string{"7", "4.22.5-bbbbbbbb-7", "4.22.5-aaaaaaaa-8", "4.22.5-aaaaaaaa-07"} {
		if _, answer := attempt(other, highest); !strings.Contains(answer, "would uninstall") {
			t.Errorf("consent %q counts: %q", other, answer)
		}
	}
	if _, answer := attempt("4.22.5-aaaaaaaa-7", counted{}); answer != "" { // of a new process
		t.Errorf("it does not take the consent that it asked for: %q", answer)
	}
}

func TestPublish_takes_a_consent_although_the_announcement_was_stored_and_seen_late(t *testing.T) {
	api := listing(1)
	const consent = "4.22.5-aaaaaaaa-2"
	e := &remembering{stored: engine.Inventories{Seen: true, Of: []engine.Held{held(1, "core", manager)}}, highest: 2} // of the announcement
	p := planned(e, api, consent)
	p.Client = serving(t, api)
	p.memory.counted = counted{known: true, desired: api.Status.DesiredRevision, highest: 1}
	look := func() string {
		p.plan.awaitsConsent, p.plan.consentTo = "", ""
		p.proofs = proofs{e.Proofs()}
		p.askUninstallConsent()
		asked := p.plan.consentTo
		if err := p.publish(t.Context()); err != nil {
			t.Fatal(err)
		}
		return asked
	}
	if asked := look(); asked != "" {
		t.Fatalf("it asks for %s before it has met the number", asked)
	}
	if asked := look(); asked != "4.22.5-aaaaaaaa-3" {
		t.Errorf("it asks for %q while number 2 may be of anything", asked)
	}
	e.announced = []engine.Proof{{Number: 2, Announced: true, Listed: ProofOf(NewEntry(p.Release, 2, p.plan.revision))}}
	if asked := look(); asked != "" {
		t.Errorf("it asks for %s although the consent is for the announced number", asked)
	}
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(api), api); err != nil {
		t.Fatal(err)
	}
	if got := api.Status.DesiredRevision; got != consent {
		t.Errorf("desired is %s", got)
	}
	if p.memory.counted.known {
		t.Error("the number is counted still, which is used by now")
	}
}

func TestPublish_asks_once_for_the_number_that_a_consent_is_not_for(t *testing.T) {
	for name, row := range map[string]struct {
		stored  []engine.Held
		highest int64
		consent string
		number  string
	}{
		"nobody has ever used one":                       {nil, 0, "4.22.5-aaaaaaaa-999", "4.22.5-aaaaaaaa-2"},
		"the watch shows an inventory that is gone":      {[]engine.Held{held(1, "core", manager), held(9, "core", manager)}, 1, "4.22.5-aaaaaaaa-10", "4.22.5-aaaaaaaa-2"},
		"the watch does not show an inventory yet":       {[]engine.Held{held(1, "core", manager)}, 9, "4.22.5-aaaaaaaa-2", "4.22.5-aaaaaaaa-10"},
		"the watch does not show the one consented to":   {[]engine.Held{held(1, "core", manager)}, 8, "4.22.5-aaaaaaaa-10", "4.22.5-aaaaaaaa-9"},
		"the watch shows one that is gone, and one more": {[]engine.Held{held(1, "core", manager), held(9, "core", manager)}, 5, "4.22.5-aaaaaaaa-10", "4.22.5-aaaaaaaa-6"},
	} {
		api := listing(1)
		e := &remembering{stored: engine.Inventories{Seen: true, Of: row.stored}, highest: row.highest}
		p := planned(e, api, row.consent)
		p.Client = serving(t, api)
		for pass := range 4 {
			p.plan.awaitsConsent, p.plan.consentTo, p.lookAgain = "", "", 0
			if p.askUninstallConsent(); (p.plan.consentTo == "") != (p.plan.awaitsConsent == "") || p.plan.consentTo == "" && pass > 0 {
				t.Fatalf("%s: pass %d finds the consent that was refused good", name, pass)
			}
			if err := p.publish(t.Context()); err != nil {
				t.Fatal(err)
			}
			if p.lookAgain > 0 && p.lookAgain < time.Second {
				t.Errorf("%s: the next pass comes without a pause", name)
			}
		}
		if e.asked != 1 || p.plan.consentTo != row.number || !strings.Contains(p.plan.awaitsConsent, row.number) {
			t.Errorf("%s: the number was asked for %d times, and it says %s", name, e.asked, p.plan.awaitsConsent)
		}
	}
}

func TestUninstallText_says_what_to_do_within_its_bound(t *testing.T) {
	bare := images.Ref("registry.example.com/core@" + digest)
	other, err := acts.Read(acts.ConsentToUninstall, strings.Replace(consentFor("4.22.5-aaaaaaaa-2"), "anna", strings.Repeat("a", 500), 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, given := range []struct {
		act  *acts.Act
		void string
	}{{}, {act: &other}, {void: strings.Repeat("v", 600)}} {
		for _, folder := range []bool{true, false} {
			for _, uninstalls := range []string{"every component (core)", strings.Repeat("the workloads of component ü, ", 100)} {
				p := planned(&remembering{}, listing(1), "")
				if given.void != "" {
					p.Display.Acts = []guards.Act{{Name: acts.ConsentToUninstall, Void: given.void}}
				}
				p.OperatorNamespace, p.Release, p.plan.uninstalls = "openshift-cluster-api-operator", "4.22.0-0.nightly-2026-01-01-120000", uninstalls
				if !folder {
					p.world.refs, p.memory.unneeded[bare] = []images.Ref{bare}, brings{}
				}
				name := p.plannedName(engine.MaxNumber)
				got := p.uninstallText(name, given.act)
				for text, said := range map[string]bool{
					"revision " + name + " would uninstall " + uninstalls[:10]:    true,
					"ConfigMap openshift-cluster-api-operator/" + ImagesConfigMap: true,
					"rebuild or mount the one that lacks its folder":              !folder,
					"… is not for revision " + name:                               given.act != nil,
					"the consent that is given is void: vvv":                      given.void != "",
				} {
					if strings.Contains(got, text) != said {
						t.Errorf("it says %q: %v, want %v: %s", text, !said, said, got)
					}
				}
				if len(got) > MaxUninstallText {
					t.Errorf("it has %d bytes: %s", len(got), got)
				}
			}
		}
	}
}

func TestNumber_that_was_asked_for_counts_for_its_desired_revision_only(t *testing.T) {
	e := &remembering{stored: engine.Inventories{Seen: true, Of: []engine.Held{held(4, "core", manager)}}}
	p := planned(e, listing(), "")
	p.memory.counted = counted{known: true, desired: "4.22.5-bbbbbbbb-4", highest: 3}
	p.askUninstallConsent()
	if p.plan.err == nil || !strings.Contains(p.plan.err.Error(), "4.22.5-aaaaaaaa-5") {
		t.Errorf("with the list lost it says %v", p.plan.err)
	}
}

// serving is an API server that has a ClusterAPI.
func serving(t *testing.T, api *operatorv1alpha1.ClusterAPI) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := operatorv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(api).WithObjects(api).Build()
}

func configMaps(names ...string) []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for _, name := range names {
		o := &unstructured.Unstructured{}
		o.SetAPIVersion("v1")
		o.SetKind("ConfigMap")
		o.SetNamespace("capi")
		o.SetName(name)
		objects = append(objects, o)
	}
	return objects
}
