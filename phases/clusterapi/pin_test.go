package clusterapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/history"
	"github.com/capstan-capi/capstan/phases/images"
)

// shelf is a source in which images are as it is said.
type shelf struct {
	images.Source
	states map[images.Ref]images.State
}

func (s shelf) State(ref images.Ref) images.State { return s.states[ref] }

// narrow is an engine that refuses definitions.
type narrow struct {
	Engine
	refused map[string]string
	err     error
	asked   int
}

func (n *narrow) Narrowed(context.Context, *engine.Revision) (map[string]string, error) {
	n.asked++
	return n.refused, n.err
}

func ref(name string) images.Ref { return images.Ref("registry.example/" + name + "@" + digest) }

// atNoon is when what is pinned here was asked for.
var atNoon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// pinning is a pass of an operator of 4.22.2, which has listed revisions 1, of image one, and 2, of image two, which is installed.
// The list asks for image two.
func pinning(t *testing.T, now time.Time, text string) (*Pass, *narrow, shelf) {
	t.Helper()
	p := acting(policies(), now, map[string]string{acts.Annotation(acts.Pin): text})
	c := fake.NewFakeClient()
	p.History = history.New(c, c, "ops", func() {}, clocktesting.NewFakeClock(now), logr.Discard())
	if err := p.History.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for number, image := range map[int64]string{1: "one", 2: "two", 3: "three"} {
		r := history.Revision{Number: number, Name: fmt.Sprintf("4.22.%d-c-%d", number, number), Release: fmt.Sprintf("4.22.%d", number), Result: history.Installed}
		if number == 3 {
			r.Result = history.Superseded
		}
		r.Components = []history.Component{{Name: "alpha", Image: string(ref(image)), Profile: "default"}}
		p.History.List(r)
	}
	p.History.List(history.Revision{Number: 4, Name: "4.21.0-c-4", Release: "4.21.0", Result: history.Installed})
	e, s := &narrow{}, shelf{states: map[images.Ref]images.State{}}
	p.Release, p.Engine, p.Images = "4.22.2", e, s
	ready := images.Image{Ref: ref("one"), Profiles: []images.Profile{{
		Name: "default", Metadata: []byte("name: alpha\n"), Manifests: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}"),
	}}}
	s.states[ref("one")] = images.State{Phase: images.Ready, Image: &ready}
	entry := operatorv1alpha1.ClusterAPIInstallerRevision{Name: "4.22.2-c-2", Revision: 2, ContentID: "c"}
	entry.Components = []operatorv1alpha1.ClusterAPIInstallerComponent{{Name: "alpha"}}
	entry.Components[0].Image.Ref, entry.Components[0].Image.Profile = operatorv1alpha1.ImageDigestFormat(ref("two")), "default"
	p.world.api.Status.Revisions = []operatorv1alpha1.ClusterAPIInstallerRevision{entry}
	p.world.current, p.world.list, p.world.refs, p.world.platform = entry.Name, "0123456789abcdef", []images.Ref{ref("two")}, "AWS"
	return p, e, s
}

// anAct is the text of a pin, with lines before the reason and behind it.
func anAct(until string, items ...string) string {
	return "by: anna\nat: 2026-01-31T12:00:00Z\n" + until + "reason: r\n" + strings.Join(items, "\n")
}

const anHourOn = "until: 2026-01-31T13:00:00Z\n"

func TestAskPin(t *testing.T) {
	pulled := func(state images.State) func(*Pass, *narrow, shelf) {
		return func(_ *Pass, _ *narrow, s shelf) { s.states[ref("one")] = state }
	}
	for name, row := range map[string]struct {
		text   string
		now    time.Time
		given  func(*Pass, *narrow, shelf)
		images string // that are planned
		void   string
		waits  string
		ended  bool
	}{
		"to what is installed":        {text: anAct(anHourOn, "revision: 2"), images: "two"},
		"later than ten minutes":      {text: anAct(anHourOn, "revision: 2"), now: atNoon.Add(20 * time.Minute), images: "two"},
		"back":                        {text: anAct("", "revision: 1", "list: 0123456789abcdef"), images: "one"},
		"back, at the last moment":    {text: anAct("", "revision: 1", "list: 0123456789abcdef"), now: atNoon.Add(10*time.Minute - time.Second), images: "one"},
		"back, later":                 {text: anAct("", "revision: 1", "list: 0123456789abcdef"), now: atNoon.Add(10 * time.Minute), images: "two", void: "was not taken up within 10m0s"},
		"back, of another list":       {text: anAct("", "revision: 1", "list: another"), images: "two", void: "ended when the list of images changed", ended: true},
		"back, and the list is gone":  {text: anAct("", "revision: 1", "list: 0123456789abcdef"), given: func(p *Pass, _ *narrow, _ shelf) { p.world.list, p.world.refs = "", nil }, images: "one"},
		"to what was never installed": {text: anAct(anHourOn, "revision: 3"), images: "two", void: "does not have revision 3 as installed"},
		"to what nobody knows":        {text: anAct(anHourOn, "revision: 9"), images: "two", void: "does not have revision 9 as installed"},
		"to another minor release":    {text: anAct(anHourOn, "revision: 4"), images: "two", void: "ended with another minor release", ended: true},
		"whose time is over":          {text: anAct(anHourOn, "revision: 1"), now: atNoon.Add(2 * time.Hour), images: "two", void: "it ended at", ended: true},
		"image on its way":            {text: anAct(anHourOn, "revision: 1"), given: pulled(images.State{Phase: images.Fetching}), images: "two", waits: "images are being fetched: registry.example/one@"},
		"image that is gone":          {text: anAct(anHourOn, "revision: 1"), given: pulled(images.State{Err: errors.New("not found")}), images: "two", void: "is not to be had: not found"},
		"a schema that would narrow":  {text: anAct(anHourOn, "revision: 1"), given: func(_ *Pass, e *narrow, _ shelf) { e.refused = map[string]string{"as.b": "would drop v2"} }, images: "two", void: "the update of CustomResourceDefinition as.b is refused: it would drop v2"},
		"nobody knows schemas":        {text: anAct(anHourOn, "revision: 1"), given: func(_ *Pass, e *narrow, _ shelf) { e.err = errors.New("down") }, images: "two", void: "down"},
		"listed for it before":        {text: anAct(anHourOn, "revision: 1"), now: atNoon.Add(30 * time.Minute), given: listedFor("anna"), images: "one"},
		"listed for somebody else's":  {text: anAct(anHourOn, "revision: 1"), now: atNoon.Add(30 * time.Minute), given: listedFor("bert"), images: "two", void: "was not taken up"},
		"void, and the list is alike": {text: anAct(anHourOn, "revision: 1"), now: atNoon.Add(30 * time.Minute), given: listedOf("one", atNoon.Add(20*time.Minute)), images: "two", void: "was not taken up"},
		"nobody has noted why":        {text: anAct(anHourOn, "revision: 1"), now: atNoon.Add(30 * time.Minute), given: listedOf("one", time.Time{}), images: "one"},
		"nor why of other images":     {text: anAct(anHourOn, "revision: 1"), now: atNoon.Add(30 * time.Minute), given: listedOf("two", time.Time{}), images: "two", void: "was not taken up"},
		"installed days later":        {text: anAct("until: 2026-02-10T12:00:00Z\n", "revision: 5"), now: atNoon.Add(48 * time.Hour), given: installedAs(5, atNoon.Add(24*time.Hour)), images: "two", void: "was not taken up"},
		"installed in the meantime":   {text: anAct("until: 2026-02-10T12:00:00Z\n", "revision: 5"), now: atNoon.Add(48 * time.Hour), given: installedAs(5, atNoon.Add(9*time.Minute)), images: "one"},
		"from far ahead":              {text: anAct(anHourOn, "revision: 2"), now: atNoon.Add(-11 * time.Minute), images: "two", void: "more than a minute ahead"},
		"back, from ahead":            {text: anAct(anHourOn, "revision: 1"), now: atNoon.Add(-2 * time.Minute), images: "two", void: "more than a minute ahead"},
		"from a little ahead":         {text: anAct(anHourOn, "revision: 2"), now: atNoon.Add(-time.Minute), images: "two"},
	} {
		t.Run(name, func(t *testing.T) {
			if row.now.IsZero() {
				row.now = atNoon
			}
			p, e, s := pinning(t, row.now, row.text)
			if row.given != nil {
				row.given(p, e, s)
			}
			inputs := p.world.inputs
			told := p.readActs(t.Context())[0]
			if (told.Void == "") != (row.void == "") || !strings.Contains(told.Void, row.void) || !strings.Contains(told.Waits, row.waits) || (told.Waits == "") != (row.waits == "") || told.Ended != row.ended {
				t.Errorf("told is %+v", told)
			}
			if !slices.Equal(p.world.refs, []images.Ref{ref(row.images)}) {
				t.Errorf("%v are planned", p.world.refs)
			}
			stands := row.void == "" && row.waits == ""
			if p.world.pin.stands() != stands || (p.world.inputs != inputs) != stands {
				t.Errorf("it stands is %v, and the inputs are %q", p.world.pin.stands(), p.world.inputs)
			}
			if wants := slices.Contains(p.world.pin.asks(), ref("one")); row.waits != "" && !wants {
				t.Error("its images are not asked for")
			}
		})
	}
}

func TestAskPin_tells_that_the_list_asks_for_the_same_by_now(t *testing.T) {
	ready := func(name string, profiles ...images.Profile) images.State {
		return images.State{Phase: images.Ready, Image: &images.Image{Ref: ref(name), Profiles: profiles}}
	}
	beta := images.Profile{Name: "default", Metadata: []byte("name: beta\n"), Manifests: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: b}}")}
	for name, row := range map[string]struct {
		list  []images.Ref
		given func(*Pass, shelf)
		same  bool
		asks  bool // for the other image
		why   string
	}{
		"the same":                      {list: []images.Ref{ref("one")}, same: true},
		"others":                        {list: []images.Ref{ref("two")}},
		"more, on its way":              {list: []images.Ref{ref("none"), ref("one")}, asks: true, why: "images are being fetched"},
		"more, which is not to be had":  {list: []images.Ref{ref("none"), ref("one")}, given: func(_ *Pass, s shelf) { s.states[ref("none")] = images.State{Err: errors.New("down")} }, asks: true, why: "down"},
		"more, which brings nothing":    {list: []images.Ref{ref("none"), ref("one")}, given: func(_ *Pass, s shelf) { s.states[ref("none")] = ready("none") }, same: true},
		"more, which brings something":  {list: []images.Ref{ref("none"), ref("one")}, given: func(_ *Pass, s shelf) { s.states[ref("none")] = ready("none", beta) }, asks: true},
		"the same, for another release": {list: nil, given: func(p *Pass, _ shelf) { p.world.listRelease = "4.22.3" }},
		"none":                          {list: nil, given: func(p *Pass, _ shelf) { p.world.refsErr = errors.New("gone") }},
	} {
		p, _, s := pinning(t, atNoon, anAct(anHourOn, "revision: 1"))
		p.memory.unneeded = unneeded{}
		if row.given != nil {
			row.given(p, s)
		}
		for pass := range 2 { // what was learnt is known in the next one
			p.world.pin, p.world.refs = nil, row.list
			told := p.readActs(t.Context())[0]
			by, differs := p.world.pinned()
			if told.Void != "" || told.Same != row.same || differs == row.same || strings.Contains(by, "(the list of images asks for the same)") != row.same {
				t.Errorf("%s, pass %d: told is %+v, differs %v, and %q", name, pass, told, differs, by)
			}
			if !strings.Contains(told.Unclear, row.why) || (told.Unclear == "") != (row.why == "") {
				t.Errorf("%s, pass %d: unclear is %q", name, pass, told.Unclear)
			}
			if asks := slices.Contains(p.world.pin.asks(), ref("none")); asks != row.asks && (pass > 0 || !row.same) {
				t.Errorf("%s, pass %d: the other image is asked for: %v", name, pass, asks)
			}
		}
	}
}

func TestAskPin_stays_with_what_is_newest_when_the_history_is_lost(t *testing.T) {
	for name, row := range map[string]struct {
		began   time.Time
		takenUp bool // by this process
		noted   bool // that revision 1 was never installed
		stays   bool
	}{
		"it was begun anew, and knows it":  {began: atNoon.Add(time.Hour), noted: true},
		"nothing is entered yet":           {stays: true},
		"it was begun anew":                {began: atNoon.Add(time.Hour), stays: true},
		"it began before":                  {began: atNoon.Add(-time.Hour)},
		"after it was taken up, it is old": {began: atNoon.Add(-time.Hour), takenUp: true, stays: true},
	} {
		p, _, _ := pinning(t, atNoon.Add(time.Hour), anAct("", "revision: 1", "list: 0123456789abcdef"))
		listedFor("anna")(p, nil, shelf{})
		if row.takenUp {
			p.readActs(t.Context())
			p.world.pin, p.world.refs = nil, []images.Ref{ref("two")}
		}
		newest := &p.world.api.Status.Revisions[1]
		newest.Components = []operatorv1alpha1.ClusterAPIInstallerComponent{{Name: "alpha"}}
		newest.Components[0].Image.Ref, newest.Name = operatorv1alpha1.ImageDigestFormat(ref("one")), "4.22.1-d-5"
		c := fake.NewFakeClient()
		p.History = history.New(c, c, "ops", func() {}, clocktesting.NewFakeClock(row.began), logr.Discard())
		if err := p.History.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !row.began.IsZero() {
			p.History.See(history.Seen{Listed: []history.Revision{remembered(newest)}})
		}
		if row.noted {
			p.History.List(history.Revision{Number: 1, Name: "4.22.1-c-1", Release: "4.22.1", Result: history.Superseded})
		}
		p.proofs = proofs{engine.Proofs{Seen: true, Of: []engine.Proof{{Number: 5, Listed: ProofOf(*newest)}}}}
		told, planned := p.readActs(t.Context())[0], ref("two")
		if row.stays {
			planned = ref("one")
		}
		if (told.Void == "") != row.stays || p.world.pin.stands() != row.stays || !slices.Equal(p.world.refs, []images.Ref{planned}) || strings.Contains(told.Waits, "the history was lost") != row.stays {
			t.Errorf("%s: told is %+v, and %v are planned", name, told, p.world.refs)
		}
	}
}

func TestAskPin_that_has_ended_does_not_begin_again_and_goes_on_saying_why(t *testing.T) {
	p, _, _ := pinning(t, atNoon, anAct("", "revision: 1", "list: 0123456789abcdef"))
	for _, row := range []struct {
		list     string
		standing bool
		why      string
	}{
		{"0123456789abcdef", true, ""},
		{"another", false, "it ended when the list of images changed"},
		{"0123456789abcdef", false, "it ended when the list of images changed"},
	} {
		p.world.list, p.world.pin, p.world.refs = row.list, nil, []images.Ref{ref("two")}
		told := p.readActs(t.Context())[0]
		if standing := p.world.pin.stands(); standing != row.standing || told.Ended == row.standing || told.Void != row.why {
			t.Errorf("with list %s it stands is %v, told is %v", row.list, standing, told)
		}
	}
}

func TestAskPin_that_was_taken_up_is_not_ended_by_a_clock_that_is_behind(t *testing.T) {
	early := atNoon.Add(-time.Hour)
	p, _, _ := pinning(t, early, anAct(anHourOn, "revision: 1"))
	if told := p.readActs(t.Context())[0]; told.Void == "" || p.world.pin.stands() {
		t.Errorf("one that was not taken up: told is %+v", told)
	}
	listedFor("anna")(p, nil, shelf{})
	if told := p.readActs(t.Context())[0]; told.Void != "" || !p.world.pin.stands() {
		t.Errorf("one for which a revision was listed: told is %+v", told)
	}
}

// listedFor lists a revision 5 for a pin of somebody's, of the pinned image and another one.
func listedFor(by string) func(*Pass, *narrow, shelf) {
	return func(p *Pass, _ *narrow, _ shelf) {
		entry := operatorv1alpha1.ClusterAPIInstallerRevision{Name: "4.22.1-c-5", Revision: 5, ContentID: "d"}
		p.world.api.Status.Revisions = append(p.world.api.Status.Revisions, entry)
		p.History.List(history.Revision{Number: 5, Name: "4.22.1-c-5", Release: "4.22.1", Pin: &history.Pin{Revision: 1, By: by, At: atNoon}, Result: history.Applying})
	}
}

// listedOf lists a revision 5 of an image, for no pin; with no moment nobody has noted why it was listed.
func listedOf(image string, at time.Time) func(*Pass, *narrow, shelf) {
	return func(p *Pass, _ *narrow, _ shelf) {
		r := history.Revision{Number: 5, Name: "4.22.3-d-5", Release: "4.22.3", Listed: at, Result: history.Applying}
		r.Components = []history.Component{{Name: "alpha", Image: string(ref(image)), Profile: "default"}}
		entry := operatorv1alpha1.ClusterAPIInstallerRevision{Name: operatorv1alpha1.RevisionName(r.Name), Revision: r.Number, ContentID: "d"}
		p.world.api.Status.Revisions = append(p.world.api.Status.Revisions, entry)
		p.History.List(r)
	}
}

// installedAs lists and installs a revision of image one at a time, as what the list asked for.
func installedAs(number int64, at time.Time) func(*Pass, *narrow, shelf) {
	return func(p *Pass, _ *narrow, _ shelf) {
		r := history.Revision{Number: number, Name: "4.22.3-d-5", Release: "4.22.3", Listed: at.Add(-time.Minute), Applied: at, Result: history.Installed}
		r.Components = []history.Component{{Name: "alpha", Image: string(ref("one")), Profile: "default"}}
		entry := operatorv1alpha1.ClusterAPIInstallerRevision{Name: operatorv1alpha1.RevisionName(r.Name), Revision: r.Number, ContentID: "d"}
		p.world.api.Status.Revisions = append(p.world.api.Status.Revisions, entry)
		p.History.List(r)
	}
}

func TestAskPin_to_what_is_newest_plans_nothing_while_a_clock_is_behind(t *testing.T) {
	p, _, _ := pinning(t, atNoon.Add(-5*time.Minute), anAct(anHourOn, "revision: 2"))
	p.world.refs = []images.Ref{ref("three")}
	if told := p.readActs(t.Context())[0]; told.Void != "" || told.Waits == "" {
		t.Errorf("told is %+v", told)
	}
	if by, differs := p.world.pinned(); by == "" || !differs {
		t.Errorf("the list counts: pinned by %q, differs %v", by, differs)
	}
	p.Now, p.world.pinWaits = func() time.Time { return atNoon }, ""
	if told := p.readActs(t.Context())[0]; told.Waits != "" || !p.world.pin.stands() {
		t.Errorf("by the right clock told is %+v", told)
	}
}

func TestAskPin_that_was_taken_up_stays_so_whatever_is_refused_later(t *testing.T) {
	p, e, _ := pinning(t, atNoon, anAct(anHourOn, "revision: 1"))
	p.readActs(t.Context())
	e.refused = map[string]string{"as.b": "would drop v2"}
	p.Now = func() time.Time { return atNoon.Add(30 * time.Minute) }
	p.world.pin, p.world.refs = nil, []images.Ref{ref("two")}
	if told := p.readActs(t.Context())[0]; told.Void != "" || !p.world.pin.stands() || !p.world.pin.differs || e.asked != 1 {
		t.Errorf("told is %+v, asked %d times", told, e.asked)
	}
}

func TestAskPin_looks_again_after_a_while_whether_it_may_be_taken_up(t *testing.T) {
	p, e, _ := pinning(t, atNoon, anAct(anHourOn, "revision: 1"))
	e.refused = map[string]string{"as.b": "would drop v2"}
	for range 3 {
		p.readActs(t.Context())
	}
	if e.asked != 1 || p.lookAgain != tryPinAgain {
		t.Errorf("it looked %d times, and looks again in %s", e.asked, p.lookAgain)
	}
	e.refused = nil
	p.Now = func() time.Time { return atNoon.Add(tryPinAgain) }
	if told := p.readActs(t.Context())[0]; told.Void != "" || !p.world.pin.stands() {
		t.Errorf("told is %+v", told)
	}
}

func TestAskPin_plans_nothing_while_the_history_cannot_be_read(t *testing.T) {
	p, _, _ := pinning(t, atNoon, anAct(anHourOn, "revision: 1"))
	broken := interceptor.NewClient(fake.NewFakeClient(), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errors.New("down")
		},
	})
	p.History = history.New(broken, broken, "ops", func() {}, clocktesting.NewFakeClock(atNoon), logr.Discard())
	told := p.readActs(t.Context())[0]
	if plan := p.makePlan(t.Context(), p.world); !strings.Contains(plan.waiting, "the history of revisions cannot be read") || told.Waits == "" || told.Void != "" {
		t.Errorf("told is %+v, and the plan %+v", told, plan)
	}
	if by, differs := p.world.pinned(); by == "" || !differs {
		t.Error("an upgrade to another minor release would be let begin")
	}
}

func TestReleaseOf_names_what_is_pinned(t *testing.T) {
	p, _, _ := pinning(t, atNoon, anAct("", "revision: 1", "list: 0123456789abcdef"))
	p.readActs(t.Context())
	if got := p.releaseOf(p.world); got != "4.22.1" {
		t.Errorf("the release is %s", got)
	}
	if guard := guards.DesiredMatchesInputs.Answer(guards.Facts{Seen: true, Planned: "c", Desired: "c", DesiredNumber: 2, Pin: "pin by anna"}); !strings.Contains(guard.Reason, "(pin by anna)") {
		t.Errorf("the reason is %s", guard.Reason)
	}
}
