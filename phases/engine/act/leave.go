package act

import (
	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/report"
)

// isLeft says that people ask to leave the object as it is, and that it can be told how it is.
func (s observation) isLeft() bool {
	return s.left != "" && s.unobservable != decide.Unknown && s.unobservable != decide.Progressed
}

// leave tells of an object that is left alone, and of how it differs.
func leave(o *report.Object, s observation, differs string) {
	o.Action, o.Left = decide.LeftAlone, &report.Left{Asked: s.left, Differs: differs, Installed: s.current}
	if o.Why = decide.LeftWhy(s.left, differs); o.Probe.Answer == decide.AnswerFalse {
		o.Why += "; " + o.Probe.Message
	}
}

// lookAtLeftLocked tells of an object that is left alone, by what would be done with it.
func (e *Engine) lookAtLeftLocked(o *report.Object, t *target, c *decision) *report.Object {
	o.Claimed, o.Owner = c.Claimed, c.Owner
	if c.from != nil {
		o.Probe = e.probeLocked(t, c)
	}
	leave(o, t.observation, e.differenceLocked(t, c))
	return o
}

// differenceLocked is how an object differs from what is desired, the number apart.
func (e *Engine) differenceLocked(t *target, c *decision) string {
	if c.from == nil {
		return c.Unlike(decide.Desired{Manifest: t.Manifest}, nil, e.us)
	}
	return c.Unlike(t.desiredLocked(), c.from.Tree(t.Key.GVK()), e.us)
}

// leftAlone says why an orphan, or what would go with it, is left alone; empty if it is not. What is in a Namespace goes with it,
// and instances go with their CRD.
func (e *Engine) leftAlone(c *inventory.Candidate) string {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	if asked := e.noted.LeftAlone[c.Key.Identity()]; asked != "" {
		return decide.LeftWhy(asked, "")
	}
	for key, asked := range e.noted.LeftAlone {
		if c.Key.IsNamespace() && key.Namespace == c.Key.Name || c.Key.IsCRD() && decide.Instance(c.Actual, key) {
			return "holds " + key.String() + ", which " + decide.LeftWhy(asked, "")
		}
	}
	return ""
}
