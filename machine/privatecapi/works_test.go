package privatecapi_test

import (
	"context"
	"maps"
	"slices"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// works are those of one pass, in memory. Each does all of its writes, one after the other, as far as it gets.
type works struct {
	*world
	facts guards.Facts
}

// LockedFor counts nothing: nobody is called in this world.
func (w *works) LockedFor() time.Duration { return 0 }

func (c *component) note() {
	if c.noted == nil {
		was := *c
		c.noted = &was
	}
}

// annotate writes annotations; an empty text takes one off.
func (w *world) annotate(values map[string]string) error {
	return w.write(&w.hosted.version, true, func() {
		committed, locked := w.stage() == guards.Committed, w.marks().Companion.Present
		for key, value := range values {
			if w.hosted.annotations[key] = value; value == "" {
				delete(w.hosted.annotations, key)
			}
		}
		if committed && w.stage() != guards.Committed && w.marks().Locked() {
			panic("a committed move goes back to stage " + string(w.stage()))
		}
		if now := w.marks().Companion.Present; now != locked {
			w.hosted.finalizer = now
		}
	})
}

// restage writes the stage, and the lock with it if that was taken away.
func (w *works) restage(stage guards.Stage, reason guards.Reason) error {
	c := w.marks().Companion
	c.Stage, c.Reason = stage, reason
	return w.annotate(map[string]string{guards.MigrationAnnotation: guards.MarkTrue, guards.CompanionAnnotation: c.Text()})
}

func (w *works) shutTo(fence guards.Fence) error {
	if w.fence.is == fence {
		return nil
	}
	return w.write(&w.fence.version, false, func() { w.fence.is = fence })
}

func (w *works) source() guards.Direction { return w.facts.Direction().Other() }
func (w *works) target() guards.Direction { return w.facts.Direction() }

func (w *works) names(side guards.Direction) []string {
	return slices.Sorted(maps.Keys(w.sides[side]))
}

// each does something for every object of a side, and ends with the first error.
func (w *works) each(side guards.Direction, do func(name string, o *object) error) error {
	for _, name := range w.names(side) {
		if err := do(name, w.sides[side][name]); err != nil {
			return err
		}
	}
	return nil
}

func (w *works) owned(name string, side guards.Direction, is bool) error {
	owners := w.owners[name]
	if owners == nil || owners.is[side] == is {
		return nil
	}
	return w.write(&owners.version, false, func() {
		if owners.is[side] = is; !is {
			delete(owners.is, side)
		}
	})
}

func (w *works) remove(side guards.Direction, stage guards.Stage) error {
	return w.each(side, func(name string, o *object) error {
		if w.stage() != stage {
			panic("objects of the " + string(side) + " side are removed in stage " + string(w.stage()))
		}
		if w.sides[side.Other()][name] != nil {
			if err := w.owned(name, side.Other(), true); err != nil {
				return err
			}
		}
		if err := w.owned(name, side, false); err != nil {
			return err
		}
		if o.finalizer {
			if err := w.write(&o.version, false, func() { o.finalizer = false }); err != nil {
				return err
			}
		}
		return w.write(&o.version, false, func() { w.gone(side, name) })
	})
}

func (w *works) pause(side guards.Direction) error {
	p := w.pauses[side]
	if p.is.is && p.is.noted != nil || len(w.sides[side]) == 0 {
		return nil
	}
	return w.write(&p.version, false, func() {
		if p.is.noted == nil {
			was := p.is.is
			p.is.noted = &was
		}
		p.is.is = true
	})
}

func (w *works) unpause(side guards.Direction) error {
	p := w.pauses[side]
	if p.is.noted == nil {
		return nil
	}
	return w.write(&p.version, false, func() { p.is = pause{is: *p.is.noted} })
}

func (w *works) deploy(change func(*component)) error {
	want := w.component.is
	if change(&want); want == w.component.is {
		return nil
	}
	return w.write(&w.component.version, false, func() { w.component.is = want })
}

func ok(err error) (machine.Result, error) { return machine.Result{}, err }

// inOrder does one after the other, and ends with the first error.
func inOrder(all ...func() error) (machine.Result, error) {
	for _, do := range all {
		if err := do(); err != nil {
			return machine.Result{}, err
		}
	}
	return machine.Result{}, nil
}

func (w *works) Facts() guards.Facts { return w.facts }
func (w *works) Unseen() error       { return nil }

func (w *works) Classify(context.Context) (machine.Result, error) {
	switch due, known := guards.MarkFor(w.facts); {
	case !known:
		return ok(nil)
	case due == guards.ToStandard:
		return ok(w.annotate(map[string]string{guards.ScopeAnnotation: guards.ScopeLegacy}))
	default:
		return ok(w.annotate(map[string]string{guards.PrivateTypesAnnotation: guards.MarkTrue}))
	}
}

func (w *works) CountStandard(context.Context) (machine.Result, error) { return ok(nil) }

func (w *works) RunChecks(context.Context) (machine.Result, error) {
	w.checked = true
	return ok(nil)
}

func (w *works) TakeLock(context.Context) (machine.Result, error) {
	if m := w.marks(); !m.Companion.Present || !m.Migrating {
		c := m.Companion
		if !c.Present {
			c = guards.Companion{ID: guards.MigrationID("here", "1", w.facts.Direction()), Direction: w.facts.Direction(), Stage: guards.Moving}
		}
		err := w.annotate(map[string]string{guards.MigrationAnnotation: guards.MarkTrue, guards.CompanionAnnotation: c.Text()})
		if err != nil {
			return ok(err)
		}
	}
	return ok(w.shutTo(guards.BothSidesAreShut))
}

func (w *works) PauseSource(context.Context) (machine.Result, error) { return ok(w.pause(w.source())) }

func (w *works) ScaleDownAgain(ctx context.Context) (machine.Result, error) { return w.ScaleDown(ctx) }

func (w *works) ScaleDown(context.Context) (machine.Result, error) {
	return inOrder(func() error {
		return w.deploy(func(c *component) {
			c.note()
			c.autoscaler = 0
		})
	}, func() error { return w.deploy(func(c *component) { c.replicas = 0 }) })
}

func (w *works) TakeSnapshot(context.Context) (machine.Result, error) {
	w.journal = len(w.sides[w.source()])
	return ok(nil)
}

func (w *works) CreateCopies(context.Context) (machine.Result, error) {
	return ok(w.each(w.source(), func(name string, o *object) error {
		if w.sides[w.target()][name] != nil {
			return nil
		}
		var created int
		return w.write(&created, false, func() {
			w.sides[w.target()][name] = &object{content: o.content, copied: true, finalizer: o.finalizer}
			if p := w.pauses[w.target()]; p.is.noted == nil {
				prior := w.pauses[w.source()].is
				if prior.noted == nil {
					prior.noted = &prior.is
				}
				p.is = pause{is: true, noted: prior.noted}
			}
		})
	}))
}

func (w *works) CopyStatuses(context.Context) (machine.Result, error) {
	return ok(w.each(w.source(), func(name string, o *object) error {
		twin := w.sides[w.target()][name]
		if twin == nil || twin.status == o.status {
			return nil
		}
		return w.write(&twin.version, false, func() { twin.status = o.status })
	}))
}

func (w *works) AddSecondOwners(context.Context) (machine.Result, error) {
	return ok(w.each(w.target(), func(name string, _ *object) error { return w.owned(name, w.target(), true) }))
}

func (w *works) SetSidecars(context.Context) (machine.Result, error) { return ok(w.equip()) }

func (w *works) equip() error {
	return w.deploy(func(c *component) {
		if equipped := w.target() == guards.ToPrivate; equipped != c.equipped {
			c.note()
			c.equipped = equipped
		}
	})
}

func (w *works) ScaleUp(context.Context) (machine.Result, error) {
	return ok(w.deploy(func(c *component) { c.replicas = replicas }))
}

func (w *works) CompareSides(context.Context) (machine.Result, error)  { return ok(nil) }
func (w *works) ObserveHealth(context.Context) (machine.Result, error) { return ok(nil) }

func (w *works) UnpauseTarget(context.Context) (machine.Result, error) {
	return inOrder(func() error {
		if w.stage() == guards.Live {
			return nil
		}
		return w.restage(guards.Live, "")
	}, func() error { return w.shutTo(guards.SourceFence(w.target())) }, func() error { return w.unpause(w.target()) })
}

func (w *works) WriteCommit(context.Context) (machine.Result, error) {
	c := w.marks().Companion
	if c.Stage == guards.Committed {
		return ok(nil)
	}
	c.Stage = guards.Committed
	values := map[string]string{
		guards.MigrationAnnotation: guards.MarkTrue, guards.CompanionAnnotation: c.Text(), guards.FailedAnnotation: "",
		guards.ScopeAnnotation: "", guards.PrivateTypesAnnotation: guards.MarkTrue,
	}
	if w.target() == guards.ToStandard {
		values[guards.ScopeAnnotation], values[guards.PrivateTypesAnnotation] = guards.ScopeLegacy, ""
	}
	return inOrder(w.equip, func() error { return w.annotate(values) })
}

func (w *works) RemoveSource(context.Context) (machine.Result, error) {
	return inOrder(w.equip, func() error { return w.remove(w.source(), guards.Committed) }, func() error {
		p := w.pauses[w.source()]
		if p.is == (pause{}) {
			return nil
		}
		return w.write(&p.version, false, func() { p.is = pause{} }) // it goes with the objects
	}, func() error { return w.unpause(w.target()) }, func() error { // which a record that was forged may have left out
		return w.deploy(func(c *component) {
			c.autoscaler, c.replicas, c.equipped, c.noted = autoscaling, replicas, w.target() == guards.ToPrivate, nil
		})
	})
}

func (w *works) ReleaseLock(context.Context) (machine.Result, error) {
	if err := w.shutTo(guards.NoFence); err != nil {
		return ok(err)
	}
	if c := w.marks().Companion; c.Present {
		values := map[string]string{guards.MigrationAnnotation: "", guards.CompanionAnnotation: "", guards.RevertAnnotation: ""}
		switch {
		case c.Stage == guards.Committed && c.Direction == guards.ToStandard:
			values[guards.FailedAnnotation] = string(guards.Reverted)
		case c.Stage != guards.Committed && c.Reason != "":
			values[guards.FailedAnnotation] = string(c.Reason)
		}
		if err := w.annotate(values); err != nil {
			return ok(err)
		}
	}
	return ok(nil)
}

func (w *works) RepauseTarget(context.Context) (machine.Result, error) {
	return inOrder(func() error {
		back, known := map[guards.Stage]guards.Stage{guards.Live: guards.Undoing, guards.Moving: guards.Undone}[w.stage()]
		if !known {
			return nil
		}
		return w.restage(back, guards.ReasonOf(w.facts))
	}, func() error { return w.shutTo(guards.BothSidesAreShut) }, func() error { return w.pause(w.target()) })
}

func (w *works) CopyDelta(context.Context) (machine.Result, error) {
	if w.stage() == guards.Undone {
		return ok(nil)
	}
	return inOrder(func() error {
		return w.each(w.target(), func(name string, o *object) error {
			twin := w.sides[w.source()][name]
			if twin == nil {
				var created int
				twin = &object{}
				if err := w.write(&created, false, func() { w.sides[w.source()][name] = twin }); err != nil {
					return err
				}
			}
			if twin.content != o.content || twin.status != o.status || twin.finalizer != o.finalizer || twin.deleting != o.deleting {
				if err := w.write(&twin.version, false, func() {
					twin.content, twin.status, twin.finalizer, twin.deleting = o.content, o.status, o.finalizer, o.deleting
				}); err != nil {
					return err
				}
			}
			return w.owned(name, w.source(), true)
		})
	}, func() error {
		return w.each(w.source(), func(name string, o *object) error {
			if w.sides[w.target()][name] != nil {
				return nil
			}
			return w.write(&o.version, false, func() { w.gone(w.source(), name) })
		})
	}, func() error { return w.restage(guards.Undone, w.marks().Companion.Reason) })
}

func (w *works) RemoveCopies(context.Context) (machine.Result, error) {
	return ok(w.remove(w.target(), guards.Undone))
}

func (w *works) RestoreWorkloads(context.Context) (machine.Result, error) {
	return inOrder(func() error {
		return w.deploy(func(c *component) {
			if c.noted != nil {
				*c = *c.noted
			}
		})
	}, func() error { return w.unpause(w.source()) })
}
