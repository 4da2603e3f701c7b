package simulated

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/capstan-capi/capstan/phases/engine"
)

// What happens to the objects in the cluster, and to the operator's way to them.

// Steps lets one pass write or delete so many objects at most; 0: all.
func (e *Engine) Steps(objects int) { e.steps = objects }

// Unseen says what was not seen yet; empty: everything is seen.
func (e *Engine) Unseen(what string) {
	e.unseen = what
	e.notify()
}

// Break fails every request of the engine; empty heals it.
func (e *Engine) Break(why string) {
	e.broken = nil
	if why != "" {
		e.broken = errors.New(why)
	}
}

// Probe lets an object's probe fail; empty: it passes.
func (e *Engine) Probe(name, why string) {
	e.probes[name] = why
	e.notify()
}

// Refuse lets the update of a CRD be refused for the data that it would lose; empty: not any more.
func (e *Engine) Refuse(name, why string) {
	e.refused[name] = why
	e.notify()
}

// Fail lets the API server refuse to write or delete an object, with a terminal error if the manifest is what is wrong;
// empty: not any more.
func (e *Engine) Fail(name, why string, terminal bool) {
	switch {
	case why == "":
		delete(e.failing, name)
	case terminal:
		e.failing[name] = apierrors.NewBadRequest(why)
	default:
		e.failing[name] = errors.New(why)
	}
	e.notify()
}

// Contest lets somebody else change a field of an object over and over; empty: not any more.
func (e *Engine) Contest(name, field, manager string) {
	e.contested[name] = nil
	if field != "" {
		e.contested[name] = &engine.Conflict{Managers: []string{manager}, Field: field, Times: 5}
	}
	e.notify()
}

// with does something to an object, if it is there.
func (e *Engine) with(name string, do func(*object)) {
	if there := e.objects[name]; there != nil {
		do(there)
		e.notify()
	}
}

// Drift lets somebody change an object.
func (e *Engine) Drift(name string) { e.with(name, func(o *object) { o.drifted = true }) }

// Remove lets somebody delete an object.
func (e *Engine) Remove(name string) { e.with(name, func(*object) { delete(e.objects, name) }) }

// Fill lets users have data in an object; 0: not any more.
func (e *Engine) Fill(name string, instances int64) {
	e.with(name, func(o *object) { o.data = instances })
}

// Bind puts a finalizer on an object; Release takes all off, and with that what is being deleted goes.
func (e *Engine) Bind(name, finalizer string) {
	e.with(name, func(o *object) { o.finalizers = append(o.finalizers, finalizer) })
}

// Release takes all finalizers off.
func (e *Engine) Release(name string) {
	e.with(name, func(o *object) {
		o.finalizers = nil
		if o.going {
			delete(e.objects, name)
		}
	})
}

// Occupy lets somebody else create an object; Vacate lets it go.
func (e *Engine) Occupy(kind, namespace, name, holder string) {
	key := engine.Key{Version: "v1", Kind: kind, Namespace: namespace, Name: name}
	if e.objects[key.String()] == nil {
		there := e.newObject(key)
		there.holder = holder
		e.objects[key.String()] = there
		e.notify()
	}
}

// Vacate deletes an object of somebody else.
func (e *Engine) Vacate(name string) {
	e.with(name, func(o *object) {
		if o.holder != "" {
			delete(e.objects, name)
		}
	})
}

// LoseInventories deletes what is known of what revisions applied.
func (e *Engine) LoseInventories() {
	clear(e.inventories)
	e.notify()
}

// Heal ends all that keeps the engine from its work, and all that waits for somebody.
func (e *Engine) Heal() {
	e.unseen, e.broken, e.unserved = "", nil, false
	clear(e.definitions)
	clear(e.probes)
	clear(e.refused)
	clear(e.failing)
	clear(e.contested)
	for _, name := range e.Names() {
		e.Release(name)
		e.Vacate(name)
	}
	e.notify()
}

// Names are those of all objects in the cluster.
func (e *Engine) Names() []string { return slices.Sorted(maps.Keys(e.objects)) }

// Writes is what the engine has changed so far.
func (e *Engine) Writes() Writes { return e.wrote }

// Calls are what was asked of the engine since it was last told, each once in a row.
func (e *Engine) Calls() []string {
	calls := slices.Compact(e.calls)
	e.calls = nil
	return calls
}

// String tells of the objects by the revision they are at, and of the inventories.
func (e *Engine) String() string {
	at := map[int64][]string{}
	for _, name := range e.Names() {
		at[e.objects[name].number] = append(at[e.objects[name].number], name+e.objects[name].marks())
	}
	var b strings.Builder
	for _, number := range slices.Sorted(maps.Keys(at)) {
		fmt.Fprintf(&b, "at revision %d: %s\n", number, strings.Join(at[number], ", "))
	}
	for _, number := range slices.Sorted(maps.Keys(e.inventories)) {
		retained := 0
		for _, have := range e.inventories[number].entries {
			if have.retained {
				retained++
			}
		}
		fmt.Fprintf(&b, "inventory of revision %d: %d objects, %d retained\n", number, len(e.inventories[number].entries), retained)
	}
	return b.String()
}

func (o *object) marks() string {
	var marks []string
	for mark, is := range map[string]bool{"of " + o.holder: o.holder != "", "drifted": o.drifted, "being deleted": o.going, fmt.Sprintf("with %d instances", o.data): o.data > 0} {
		if is {
			marks = append(marks, mark)
		}
	}
	if len(marks) == 0 {
		return ""
	}
	slices.Sort(marks)
	return " (" + strings.Join(marks, ", ") + ")"
}
