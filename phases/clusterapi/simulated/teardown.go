package simulated

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/phases/engine"
)

// errUnseen is what waits for the inventories.
var errUnseen = errors.New("the inventories are not seen yet")

// Orphans are what inventories list beside a revision.
func (e *Engine) Orphans(keep *engine.Revision) engine.Orphans {
	found := engine.Orphans{Seen: e.unseen == ""}
	if !found.Seen {
		return found
	}
	for _, have := range e.orphans(keep) {
		if have.retained {
			found.Retained = append(found.Retained, have.key)
		} else {
			found.Open = append(found.Open, have.key)
		}
	}
	for _, number := range slices.Sorted(maps.Keys(e.inventories)) {
		switch {
		case number < keep.Number:
			found.Revisions = append(found.Revisions, number)
		case number > keep.Number && !e.inventories[number].announced:
			found.Ahead = number
		}
	}
	return found
}

// Inventories are what revisions have applied.
func (e *Engine) Inventories() engine.Inventories {
	found := engine.Inventories{Seen: e.unseen == ""}
	for _, number := range slices.Sorted(maps.Keys(e.inventories)) {
		if e.inventories[number].announced {
			continue
		}
		held := engine.Held{Number: number}
		for _, have := range e.inventories[number].entries {
			if !have.retained {
				held.Objects = append(held.Objects, engine.HeldObject{Key: have.key, Component: have.component})
			}
		}
		if found.Seen {
			found.Of = append(found.Of, held)
		}
	}
	return found
}

// orphans are the entries up to the kept revision that neither it nor a newer one has, in order of removal.
func (e *Engine) orphans(keep *engine.Revision) []entry {
	live := map[string]bool{}
	for _, revision := range append(slices.Clone(e.watched), keep) {
		if revision.Number < keep.Number {
			continue
		}
		for _, w := range e.wavesOf(revision) {
			for _, key := range w.keys {
				live[key.String()] = true
			}
		}
	}
	for number, kept := range e.inventories {
		for _, have := range kept.entries {
			if number > keep.Number && !have.retained {
				live[have.key.String()] = true
			}
		}
	}
	var found []entry
	for _, number := range slices.Backward(slices.Sorted(maps.Keys(e.inventories))) {
		for _, have := range e.inventories[number].entries {
			if number > keep.Number || number == keep.Number && !have.retained || live[have.key.String()] {
				continue
			}
			live[have.key.String()] = true
			found = append(found, have)
		}
	}
	slices.SortStableFunc(found, func(a, b entry) int { return cmp.Compare(b.wave, a.wave) })
	return found
}

// Teardown deletes what only older revisions had, the last wave first.
func (e *Engine) Teardown(_ context.Context, keep *engine.Revision, opts ...engine.TeardownOption) (*engine.TeardownReport, error) {
	options := engine.TeardownOptionsOf(opts...)
	e.called(map[bool]string{true: "look beside ", false: "tear down beside "}[options.OnlyLook] + keep.Name)
	report := &engine.TeardownReport{}
	if look := e.Look(keep); !look.Applied() {
		report.Wait = "pruning waits for revision " + keep.Name + " to be applied: " + look.Blocked()
		return report, nil
	}
	if e.broken != nil {
		report.Wait = "pruning waits for its inventories: " + e.broken.Error()
		return report, e.broken
	}
	left := e.left()
	for _, have := range e.orphans(keep) {
		o := e.judge(have, keep, options.Consents)
		if o.Action == engine.Deleted {
			switch {
			case options.OnlyLook:
				o.Action, o.Why = engine.Pending, "it may go now"
			case left == 0:
				o.Action, o.Why = engine.Pending, "its turn comes after the others"
			case e.lose(&o, options):
				left--
				e.remove(&o)
			}
		}
		add(report, o)
	}
	return report, report.Err()
}

// lose tells that an object is about to go by a consent, and says that it may: the consent stands still.
func (e *Engine) lose(o *engine.Orphan, options engine.TeardownOptions) bool {
	if !o.Consented || options.Losing == nil {
		return true
	}
	there := e.objects[o.Key.String()]
	options.Losing(o.Key, there.uid())
	stands, err := options.Stands()
	switch {
	case err != nil:
		o.Action, o.Why, o.Consented = engine.Failed, err.Error(), false
		o.Err = &engine.ObjectError{Key: o.Key, Component: o.Component, Verb: "deleting", Err: err}
	case !stands:
		o.Action, o.Count, o.Why, o.Consented = engine.Retained, there.data, fmt.Sprintf("holds %d instances", there.data), false
	}
	return err == nil && stands
}

// judge decides about one orphan.
func (e *Engine) judge(have entry, keep *engine.Revision, consents map[engine.Key]engine.Consent) engine.Orphan {
	name := have.key.String()
	o, there := engine.Orphan{Key: have.key, Component: have.component}, e.objects[name]
	consent, consented := consents[have.key.Identity()]
	void := ""
	if consented && there != nil {
		void = consent.Void(there.uid(), there.holding())
	}
	switch {
	case there == nil:
		o.Action = engine.Absent
	case there.holder != "":
		o.Action, o.Why = engine.Foreign, "belongs to "+there.holder
	case e.leaves(have.key) || classOf(have.key) == "crds" && slices.Contains(keep.Unmanaged, have.key.Name):
		o.Action, o.Why = engine.Orphaned, "is left to administrators from now on"
	case there.number > keep.Number:
		o.Action, o.Why = engine.HandedOver, fmt.Sprintf("belongs to revision %d", there.number)
	case there.going:
		o.Action, o.Finalizers = engine.Terminating, there.finalizers
		o.Why = "is being deleted, finalizers pending: " + strings.Join(there.finalizers, ", ")
	case there.data > 0 && (!consented || void != ""):
		o.Void, o.Asked = void, consent.At
		o.Action, o.Count, o.Why = engine.Retained, there.data, fmt.Sprintf("holds %d instances", there.data)
	case e.failing[name] != nil:
		o.Action, o.Why = engine.Failed, e.failing[name].Error()
		o.Err = &engine.ObjectError{Key: have.key, Component: have.component, Verb: "deleting", Err: e.failing[name]}
	default:
		o.Action, o.Why, o.Consented = engine.Deleted, "is being deleted", there.data > 0
	}
	return o
}

// remove deletes one, which waits for its finalizers.
func (e *Engine) remove(o *engine.Orphan) {
	there := e.objects[o.Key.String()]
	e.wrote.Deletions++
	e.notify()
	if len(there.finalizers) == 0 {
		delete(e.objects, o.Key.String())
		return
	}
	there.going = true
	o.Action, o.Finalizers = engine.Terminating, there.finalizers
	o.Why = "is being deleted, finalizers pending: " + strings.Join(there.finalizers, ", ")
}

// add sorts an orphan into a report.
func add(report *engine.TeardownReport, o engine.Orphan) {
	switch o.Action {
	case engine.Deleted, engine.Absent:
		report.Gone = append(report.Gone, o)
	case engine.Retained:
		report.Retained = append(report.Retained, o)
	case engine.HandedOver, engine.Foreign, engine.Orphaned:
		report.Left = append(report.Left, o)
	default:
		report.Waiting = append(report.Waiting, o)
	}
}

// Announce stores that a revision is about to be listed.
func (e *Engine) Announce(_ context.Context, revision engine.RevisionRef) error {
	switch {
	case e.broken != nil:
		return e.broken
	case e.unseen != "":
		return fmt.Errorf("announcing revision %s: %w", revision.Name, errUnseen)
	}
	if have := e.inventories[revision.Number]; have == nil || !have.announced || have.listed != revision.Listed {
		e.store(revision.Number, announcement(revision))
	}
	return nil
}

func announcement(revision engine.RevisionRef) *inventory {
	return &inventory{name: revision.Name, listed: revision.Listed, content: revision.ContentID, announced: true}
}

// Proofs are how revisions were listed.
func (e *Engine) Proofs(...int64) engine.Proofs {
	found := engine.Proofs{Seen: e.unseen == ""}
	if !found.Seen {
		return found
	}
	for _, number := range slices.Sorted(maps.Keys(e.inventories)) {
		kept := e.inventories[number]
		found.Of = append(found.Of, engine.Proof{Number: number, Revision: kept.name, ContentID: kept.content, Listed: kept.listed, Announced: kept.announced})
	}
	return found
}

// Adopt gives inventories to revisions that have none.
func (e *Engine) Adopt(_ context.Context, revisions ...engine.RevisionRef) error {
	switch {
	case e.broken != nil:
		return e.broken
	case e.unseen != "":
		return fmt.Errorf("adopting revisions: %w", errUnseen)
	}
	for _, revision := range revisions {
		if e.inventories[revision.Number] != nil {
			continue
		}
		kept := &inventory{name: revision.Name, content: revision.ContentID}
		for _, name := range slices.Sorted(maps.Keys(e.objects)) {
			if there := e.objects[name]; there.holder == "" && there.number == revision.Number {
				kept.entries = append(kept.entries, entry{key: there.key, component: "adopted"})
			}
		}
		e.store(revision.Number, kept)
	}
	return nil
}

// Forget books what was retained on the kept revision, and drops the older inventories.
func (e *Engine) Forget(_ context.Context, keep *engine.Revision, done *engine.TeardownReport) error {
	switch {
	case !done.Complete():
		return fmt.Errorf("forgetting revisions older than %s: %s", keep.Name, done.Blocked())
	case e.broken != nil:
		return e.broken
	case e.unseen != "":
		return fmt.Errorf("forgetting revisions older than %s: %w", keep.Name, errUnseen)
	}
	kept := &inventory{name: keep.Name, entries: e.entriesOf(keep), listed: keep.Listed, content: keep.ContentID}
	for _, o := range done.Retained {
		kept.entries = append(kept.entries, entry{key: o.Key, component: o.Component, retained: true})
	}
	if have := e.inventories[keep.Number]; have == nil || !slices.Equal(have.entries, kept.entries) {
		e.store(keep.Number, kept)
	}
	for _, number := range slices.Sorted(maps.Keys(e.inventories)) {
		if number < keep.Number {
			delete(e.inventories, number)
			e.wrote.Inventories++
			e.notify()
		}
	}
	return nil
}
