package privatecapi_test

import (
	"context"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

func (w *works) InspectSides(context.Context) (machine.Result, error) {
	values, m := map[string]string{}, w.marks()
	switch standard, private := len(w.sides[guards.ToStandard]) > 0, len(w.sides[guards.ToPrivate]) > 0; {
	case standard && private:
		if m.Failed == "" {
			return ok(w.annotate(map[string]string{guards.FailedAnnotation: string(guards.AmbiguousState)}))
		}
		return ok(nil)
	case standard && (m.Private || !m.Legacy):
		values[guards.ScopeAnnotation], values[guards.PrivateTypesAnnotation] = guards.ScopeLegacy, ""
	case !standard && (m.Legacy || !m.Private):
		values[guards.ScopeAnnotation], values[guards.PrivateTypesAnnotation] = "", guards.MarkTrue
	}
	return inOrder(w.settleAlone, func() error {
		if len(values) == 0 {
			return nil
		}
		return w.annotate(values)
	}, func() error { return w.shutTo(guards.NoFence) }, func() error {
		if !w.hosted.finalizer {
			return nil
		}
		return w.write(&w.hosted.version, true, func() { w.hosted.finalizer = false })
	})
}

// settleAlone puts back what a move has left where one side alone has objects.
func (w *works) settleAlone() error {
	private := len(w.sides[guards.ToStandard]) == 0
	for side := range w.pauses {
		if err := w.unpause(side); err != nil {
			return err
		}
	}
	return w.deploy(func(c *component) {
		if c.noted != nil {
			*c = *c.noted
		}
		c.equipped, c.noted = private, nil
	})
}
