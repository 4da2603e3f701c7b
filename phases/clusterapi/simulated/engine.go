package simulated

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine"
)

// Engine rolls revisions out to a map of objects. It is the second
// implementation of the interface that the phases have towards their engine, and
// proves that one can stand behind it: revisions made of phases (waves here) are
// reconciled and torn down by the same rules about gates, numbers, inventories,
// retention and consent, without a cluster. What tests can tell it is in the
// methods that no phase calls.
type Engine struct {
	objects     map[string]*object
	inventories map[int64]*inventory
	watched     []*engine.Revision
	waves       map[*engine.Revision][]*wave
	// steps is how many objects one pass writes or deletes at most; 0: all.
	steps int
	// unseen is what has not been seen yet, empty for nothing; broken fails every request.
	unseen string
	broken error
	// probes that fail, by object, and why; refused updates, writes that fail, and fields that are contested.
	probes    map[string]string
	refused   map[string]string
	failing   map[string]error
	contested map[string]*engine.Conflict
	// definitions are those that others install, by name; noted is what the phases said last; unserved says that there is no
	// kind of requirements.
	definitions map[string]Definition
	noted       engine.Noted
	unserved    bool
	// notify is called when something has changed.
	notify func()
	made   int
	wrote  Writes
	calls  []string
}

// object is one in the cluster.
type object struct {
	key    engine.Key
	number int64
	// holder has an object that is not ours, empty for ours.
	holder  string
	drifted bool
	// going says that it is being deleted, finalizers what that waits for.
	going      bool
	finalizers []string
	// data is how many instances or objects of users it holds; made is which object of the simulation it is, as a UID is.
	data int64
	made int
}

// inventory is what a revision applied.
type inventory struct {
	name    string
	entries []entry
	// listed and content say how the revision was listed; announced that nothing of it was applied.
	listed, content string
	announced       bool
}

type entry struct {
	key       engine.Key
	component string
	wave      int
	retained  bool
}

// wave is the unit of gating.
type wave struct {
	name, component string
	keys            []engine.Key
}

// Writes counts what an engine has changed.
type Writes struct{ Objects, Deletions, Inventories int }

func newEngine(notify func()) *Engine {
	return &Engine{
		objects: map[string]*object{}, inventories: map[int64]*inventory{}, waves: map[*engine.Revision][]*wave{},
		probes: map[string]string{}, refused: map[string]string{}, failing: map[string]error{}, contested: map[string]*engine.Conflict{},
		definitions: map[string]Definition{}, notify: notify,
	}
}

// restarted is what a new process knows: what is in the cluster stays.
func (e *Engine) restarted() {
	e.watched = nil
	clear(e.waves)
}

// Watch says which revisions there are.
func (e *Engine) Watch(revisions ...*engine.Revision) {
	e.watched = slices.Clone(revisions)
	maps.DeleteFunc(e.waves, func(r *engine.Revision, _ []*wave) bool { return !slices.Contains(revisions, r) })
}

// classes are the kinds that make a wave, in order; the rest comes before workloads.
var classes = []string{requirementClass, "crds", "config", "workloads"}

func classOf(key engine.Key) string {
	switch key.Kind {
	case "CustomResourceDefinition":
		return "crds"
	case "Deployment":
		return "workloads"
	case "CompatibilityRequirement":
		return requirementClass
	}
	return "config"
}

func (e *Engine) wavesOf(revision *engine.Revision) []*wave {
	if known, is := e.waves[revision]; is {
		return known
	}
	var waves []*wave
	for _, component := range revision.Components {
		for _, class := range classes {
			w := &wave{name: class, component: component.Name}
			for _, key := range component.Keys() {
				if classOf(key) == class && !(class == "crds" && slices.Contains(revision.Unmanaged, key.Name)) {
					w.keys = append(w.keys, key)
				}
			}
			if len(w.keys) > 0 {
				waves = append(waves, w)
			}
		}
	}
	e.waves[revision] = waves
	return waves
}

// Look says where a revision stands.
func (e *Engine) Look(revision *engine.Revision) *engine.Report {
	report := &engine.Report{Revision: revision.Name, Number: revision.Number}
	if e.unseen != "" {
		report.Wait = "revision " + revision.Name + " waits for the watches to start: " + e.unseen
	}
	for i, w := range e.wavesOf(revision) {
		looked := &engine.Wave{Number: i + 1, Name: w.name, Component: w.component}
		for _, key := range w.keys {
			o := e.lookAt(revision, key)
			o.Component, o.Wave = w.component, i+1
			if err := e.failing[key.String()]; err != nil && o.Action == engine.Pending {
				o.Action, o.Err = engine.Failed, &engine.ObjectError{Key: key, Component: w.component, Verb: "applying", Err: err}
			}
			looked.Objects = append(looked.Objects, o)
		}
		report.Waves = append(report.Waves, looked)
	}
	return report
}

func (e *Engine) lookAt(revision *engine.Revision, key engine.Key) *engine.Object {
	name := key.String()
	o, there := &engine.Object{Key: key, Conflict: e.contested[name]}, e.objects[name]
	switch {
	case e.leaves(key):
		o.Action, o.Why, o.Older = engine.Progressed, "is listed as unmanaged", true
	case e.unserved && classOf(key) == requirementClass:
		o.Action, o.Why = engine.Pending, noRequirements
	case there == nil:
		o.Action, o.Why = engine.Pending, "is to be written: does not exist"
	case there.holder != "":
		o.Action, o.Owner = engine.Collision, there.holder
		o.Why = "exists already and belongs to " + there.holder + "; remove it"
	case there.going:
		o.Action, o.Why = engine.Terminating, "is being deleted, finalizers pending: "+strings.Join(there.finalizers, ", ")
	case there.number > revision.Number:
		o.Action, o.Why, o.Probe = engine.Progressed, fmt.Sprintf("belongs to revision %d", there.number), engine.Probe{Answer: engine.AnswerTrue}
	case e.refused[name] != "" && there.number < revision.Number:
		o.Action, o.Why = engine.Refused, e.refused[name]
	case there.number < revision.Number:
		o.Action, o.Why = engine.Pending, fmt.Sprintf("is to be written: is at revision %d", there.number)
	case there.drifted:
		o.Action, o.Why = engine.Pending, "is to be written: .data was changed by kubectl-edit"
	default:
		o.Action, o.Probe = engine.Idle, engine.Probe{Answer: engine.AnswerTrue}
		if classOf(key) == requirementClass {
			o.Probe = e.gate(revision, key)
		}
		if why := e.probes[name]; why != "" {
			o.Probe = engine.Probe{Answer: engine.AnswerFalse, Message: why}
		}
	}
	return o
}

// Reconcile takes a revision as far as it can go: wave by wave, or all of it when it is kept.
func (e *Engine) Reconcile(_ context.Context, revision *engine.Revision, opts ...engine.ReconcileOption) (*engine.Report, error) {
	options := engine.ReconcileOptionsOf(opts...)
	gated := !options.Keep
	e.called(map[bool]string{true: "reconcile ", false: "keep "}[gated] + revision.Name)
	report := e.Look(revision)
	if report.Wait != "" {
		return report, nil
	}
	if e.broken != nil {
		report.Fault = e.broken
		return report, e.broken
	}
	e.record(revision)
	if e.inventories[revision.Number] == nil {
		return report, nil
	}
	did, left := map[engine.Key]engine.Action{}, e.left()
	reached, open := e.reached(revision), true
	for i, w := range e.wavesOf(revision) {
		if gated && !open && i > reached {
			break
		}
		held := gated && e.holds(revision, w, options.FirstInstall)
		for _, key := range w.keys {
			if held && e.isNew(revision, key) {
				continue
			}
			if action := e.write(revision, key, left); action != "" {
				did[key] = action
				left--
			}
		}
		open = open && e.Look(revision).Waves[i].Complete()
	}
	report = e.Look(revision)
	for o := range report.Objects {
		if action, wrote := did[o.Key]; wrote && o.Action == engine.Idle {
			o.Action, o.Why = action, "in the simulation"
		}
	}
	return report, report.Err()
}

// left is how many objects may be written or deleted in one call.
func (e *Engine) left() int {
	if e.steps == 0 {
		return len(e.objects) + 1000
	}
	return e.steps
}

// reached is the index of the last wave of which an object carries the revision's number.
func (e *Engine) reached(revision *engine.Revision) int {
	reached := -1
	for i, w := range e.wavesOf(revision) {
		for _, key := range w.keys {
			if there := e.objects[key.String()]; there != nil && there.holder == "" && there.number >= revision.Number {
				reached = i
			}
		}
	}
	return reached
}

// write brings one object into the cluster, and says how; empty: there was nothing to do or it was not possible.
func (e *Engine) write(revision *engine.Revision, key engine.Key, left int) engine.Action {
	name := key.String()
	if left <= 0 || e.failing[name] != nil || e.unserved && classOf(key) == requirementClass || e.lookAt(revision, key).Action != engine.Pending {
		return ""
	}
	there, action := e.objects[name], engine.Updated
	switch {
	case there == nil:
		there, action = e.newObject(key), engine.Created
		e.objects[name] = there
	case there.drifted:
		action = engine.Recovered
	}
	there.number, there.drifted = revision.Number, false
	e.wrote.Objects++
	e.notify()
	return action
}

// uid tells an object from all others of its name.
func (o *object) uid() types.UID { return types.UID(fmt.Sprintf("%d", o.made)) }

// holding is what an object holds.
func (o *object) holding() *engine.Holding {
	holding := &engine.Holding{}
	for i := range o.data {
		holding.Add(engine.InHolding{UID: types.UID(fmt.Sprintf("%d/%d", o.made, i))})
	}
	return holding
}

// newObject is another one than all before.
func (e *Engine) newObject(key engine.Key) *object {
	e.made++
	return &object{key: key, made: e.made}
}

// record writes what the revision is about to apply into its inventory.
func (e *Engine) record(revision *engine.Revision) {
	if have := e.inventories[revision.Number]; have != nil && !have.announced || revision.Partial {
		return
	}
	e.store(revision.Number, &inventory{name: revision.Name, entries: e.entriesOf(revision), listed: revision.Listed, content: revision.ContentID})
}

func (e *Engine) entriesOf(revision *engine.Revision) []entry {
	var entries []entry
	for i, w := range e.wavesOf(revision) {
		for _, key := range w.keys {
			entries = append(entries, entry{key: key, component: w.component, wave: i})
		}
	}
	return entries
}

func (e *Engine) store(number int64, kept *inventory) {
	e.inventories[number] = kept
	e.wrote.Inventories++
	e.notify()
}

func (e *Engine) called(what string) { e.calls = append(e.calls, what) }

// HighestNumber is the highest number of the list or an inventory, or else of an object.
func (e *Engine) HighestNumber(_ context.Context, listed int64) (int64, error) {
	if e.broken != nil {
		return 0, e.broken
	}
	highest := listed
	for number := range e.inventories {
		highest = max(highest, number)
	}
	if len(e.inventories) > 0 {
		return highest, nil
	}
	for _, there := range e.objects {
		highest = max(highest, there.number)
	}
	return highest, nil
}

// StraysElsewhere are none: there are no namespaces of others.
func (e *Engine) StraysElsewhere() map[schema.GroupKind]int { return nil }

// Strays are objects of ours that no revision and no inventory has.
func (e *Engine) Strays() (strays []engine.Stray, more int) {
	known := map[string]bool{}
	for _, revision := range e.watched {
		for _, w := range e.wavesOf(revision) {
			for _, key := range w.keys {
				known[key.String()] = true
			}
		}
	}
	for _, kept := range e.inventories {
		for _, have := range kept.entries {
			known[have.key.String()] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.objects)) {
		if there := e.objects[name]; there.holder == "" && !known[name] && e.unseen == "" {
			strays = append(strays, engine.Stray{Key: there.key, Number: there.number})
		}
	}
	return strays, 0
}

// Narrowed are the definitions of a revision whose update is refused.
func (e *Engine) Narrowed(_ context.Context, revision *engine.Revision) (map[string]string, error) {
	narrowed := map[string]string{}
	for _, component := range revision.Components {
		for _, key := range component.Keys() {
			if why := e.refused[key.String()]; why != "" {
				narrowed[key.Name] = why
			}
		}
	}
	return narrowed, nil
}
