package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

// Format is the version of the JSON's shape.
const Format = 1

// Plan is what an upgrade would do; its JSON is a promise.
type Plan struct {
	Format int       `json:"format"`
	At     time.Time `json:"at"`
	As     *As       `json:"as"` // null without a cluster
	// State is the machine's, empty where it is not told.
	State    string         `json:"state"`
	From     *Revision      `json:"from"`
	To       *Revision      `json:"to"`
	Waves    []Wave         `json:"waves"`
	Removals []Object       `json:"removals"`
	Stops    []Stop         `json:"stops"`
	Limits   []string       `json:"limits"`
	Counts   map[string]int `json:"counts"`

	forecast *engine.Forecast
}

// Revision is one end of a plan.
type Revision struct {
	Number     int64       `json:"number"`
	Name       string      `json:"name"`
	ContentID  string      `json:"contentID"`
	Components []Component `json:"components"`
}

// Component is one of a revision's.
type Component struct {
	Name    string `json:"name"`
	Image   string `json:"image"`
	Profile string `json:"profile"`
}

// Wave is one wave of the revision.
type Wave struct {
	Number    int      `json:"number"`
	Component string   `json:"component"`
	Class     string   `json:"class"`
	Objects   []Object `json:"objects"`
}

// Ref names an object.
type Ref struct {
	Group     string `json:"group"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Resource  string `json:"resource"` // empty where the kind is not served
	Namespace string `json:"namespace"`
	Name      string `json:"name"`

	text string
}

// Object is what becomes of an object.
type Object struct {
	Object  Ref            `json:"object"`
	Verdict engine.Outlook `json:"verdict"`
	How     engine.How     `json:"how"`
	Why     string         `json:"why"`
	Fields  []Field        `json:"fields"`
	Holds   string         `json:"holds"`

	left bool // people ask to leave it as it is
}

// Field is one field that would change. From is left out of one that is new, To of one that goes, and both of Secrets.
type Field struct {
	Path     string          `json:"path"`
	From     json.RawMessage `json:"from,omitempty"`
	To       json.RawMessage `json:"to,omitempty"`
	Managers []string        `json:"managers,omitempty"`

	added, removed bool
}

// Stop is something that would stop the upgrade, or that cannot be told.
type Stop struct {
	What   string `json:"what"`
	Object *Ref   `json:"object,omitempty"`
	Why    string `json:"why"`
	Next   string `json:"next"`
}

// What a plan never tells.
var always = []string{
	"it is of one moment: what changes after it is not in it",
	"quotas are tried object by object, and not as a sum",
	"webhooks and policies that come or change with the release have no say yet: what they judge is marked later",
	"what pods do is not tried: whether a rollout succeeds is seen when it happens",
}

// Of makes a plan of what was foreseen.
func Of(ctx context.Context, seen *phases.Foresight, access *Access, state string, now time.Time) *Plan {
	p := begun(ctx, seen, state, now)
	p.As = &access.As
	if seen.Forecast != nil {
		p.addRights(ctx, access, seen.Forecast)
	}
	p.Limits = slices.Concat(access.limits, p.Limits, always)
	return p
}

// Computed makes a plan of what was foreseen with nothing tried and nobody asked, for others to read: it tells no value of a field,
// and not who made it.
func Computed(ctx context.Context, seen *phases.Foresight, state string, now time.Time) *Plan {
	p := begun(ctx, seen, state, now)
	for _, w := range p.Waves {
		withoutValues(w.Objects)
	}
	withoutValues(p.Removals)
	p.Limits = slices.Concat(p.Limits, []string{
		"nothing was tried: what the API server, webhooks and policies refuse is not in it", "which rights the operator lacks was not asked",
	}, always)
	return p
}

func withoutValues(objects []Object) {
	for _, o := range objects {
		for i := range o.Fields {
			o.Fields[i].From, o.Fields[i].To = nil, nil
		}
	}
}

// begun is a plan of what was foreseen, without what access to the cluster tells.
func begun(ctx context.Context, seen *phases.Foresight, state string, now time.Time) *Plan {
	p := empty(now)
	p.State, p.forecast = state, seen.Forecast
	p.From, p.To = revisionOf(seen.From), revisionOf(seen.To)
	for _, o := range seen.Obstacles {
		p.Stops = append(p.Stops, Stop{What: o.What, Why: o.Why, Next: o.Next})
	}
	if seen.Forecast != nil {
		judgeLater(ctx, seen.Forecast)
		judgeRequirements(seen.Forecast)
		p.add(seen.Forecast)
	}
	p.Limits = slices.Clone(seen.Limits)
	return p
}

func empty(now time.Time) *Plan {
	return &Plan{
		Format: Format, At: now.UTC().Truncate(time.Second), Waves: []Wave{}, Removals: []Object{}, Stops: []Stop{}, Limits: []string{}, Counts: map[string]int{},
	}
}

func revisionOf(entry *operatorv1alpha1.ClusterAPIInstallerRevision) *Revision {
	if entry == nil {
		return nil
	}
	r := &Revision{Number: entry.Revision, Name: string(entry.Name), ContentID: entry.ContentID, Components: []Component{}}
	for _, c := range entry.Components {
		r.Components = append(r.Components, Component{Name: c.Name, Image: string(c.Image.Ref), Profile: c.Image.Profile})
	}
	return r
}

// add takes up a forecast.
func (p *Plan) add(f *engine.Forecast) {
	for _, w := range f.Waves {
		told := Wave{Number: w.Number, Component: w.Component, Class: w.Class, Objects: []Object{}}
		for _, o := range w.Objects {
			told.Objects = append(told.Objects, p.object(o))
		}
		p.Waves = append(p.Waves, told)
	}
	for _, o := range f.Removals {
		p.Removals = append(p.Removals, p.object(o))
	}
	for _, what := range f.Unseen {
		p.Stops = append(p.Stops, Stop{What: "unseen", Why: "nothing is known of " + what, Next: "ask for the right to read it"})
	}
}

func refOf(o *engine.Foreseen) Ref {
	return Ref{
		Group: o.Key.Group, Version: o.Key.Version, Kind: o.Key.Kind, Resource: o.Resource.Resource, Namespace: o.Key.Namespace, Name: o.Key.Name,
		text: o.Key.String(),
	}
}

func (p *Plan) object(o *engine.Foreseen) Object {
	told := Object{Object: refOf(o), Verdict: o.Outlook, How: o.How, Why: o.Why, Holds: o.Holds, Fields: []Field{}, left: o.LeftAlone}
	for _, c := range o.Changes {
		told.Fields = append(told.Fields, fieldOf(o, c))
	}
	p.Counts[string(o.Outlook)]++
	if stop, is := stopOf(o); is {
		stop.Object = &told.Object
		p.Stops = append(p.Stops, stop)
	}
	return told
}

func fieldOf(o *engine.Foreseen, c engine.Change) Field {
	f := Field{Path: c.Path, Managers: c.Managers, added: c.Added, removed: c.Removed}
	if o.Key.Group == "" && o.Key.Kind == "Secret" {
		return f
	}
	if !c.Added {
		f.From = asJSON(c.From)
	}
	if !c.Removed {
		f.To = asJSON(c.To)
	}
	return f
}

func asJSON(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("writing a value of an object: %v", err)) // it was read from JSON
	}
	return text
}

// stopOf says why an object would stop the upgrade.
func stopOf(o *engine.Foreseen) (Stop, bool) {
	switch {
	case o.How == engine.Unseen:
		return Stop{What: "unseen", Why: o.Why, Next: "ask for the right to read it, or have the plan made by somebody who may"}, true
	case o.Outlook == engine.WouldCollide:
		return Stop{What: "collide", Why: o.Why, Next: "have its owner remove it, or let the operator adopt it"}, true
	case o.Outlook == engine.WouldRefuse:
		return Stop{What: "refuse", Why: o.Why, Next: "do what it says, and plan again"}, true
	case o.Outlook == engine.WouldDeny:
		var failed *engine.ObjectError
		if errors.As(o.Err, &failed) && failed.Reason() == engine.ReasonForbidden {
			return Stop{What: "rights", Why: o.Why, Next: "give the operator that permission"}, true
		}
		return Stop{What: "deny", Why: o.Why, Next: "repair what is refused, or let it through, and plan again"}, true
	case o.StuckBy == engine.StuckUnanswered:
		return Stop{What: o.StuckBy, Why: o.Stuck, Next: "plan again, with a longer --request-timeout"}, true
	case o.StuckBy == engine.StuckLeft:
		return Stop{What: o.StuckBy, Why: o.Stuck, Next: "wait for its end, or capstan resume " + o.Key.Kind + suffixed(o.Key.Group) + "/" + strings.TrimPrefix(o.Key.NamespacedName().String(), "/")}, true
	case o.Stuck != "":
		return Stop{What: o.StuckBy, Why: o.Stuck, Next: "repair that first"}, true
	}
	return Stop{}, false
}

// suffixed is an API group as it follows a kind; empty for the core group.
func suffixed(group string) string {
	if group == "" {
		return ""
	}
	return "." + group
}

// Code is the exit code that is the answer: 0 for nothing to do, 2 for changes, 3 for what would stop them or cannot be told.
func (p *Plan) Code() int {
	switch {
	case len(p.Stops) > 0:
		return 3
	case p.changes() > 0:
		return 2
	}
	return 0
}

// changes counts what would be done.
func (p *Plan) changes() int {
	sum := 0
	for verdict, count := range p.Counts {
		if verdict != string(engine.WouldLeave) && verdict != string(engine.WouldRetain) {
			sum += count
		}
	}
	if p.From == nil || p.To == nil || p.From.Name != p.To.Name {
		sum++ // the revision itself is listed
	}
	return sum
}
