package act

import (
	"slices"
	"strconv"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/report"
)

// aheadLocked is the number that an object of the newest revision carries, if it is higher than the revision's and no
// inventory is of it; else 0. Nobody knows what content the object has then. The cluster's lock is held.
func (e *Engine) aheadLocked(p *plan, t *target) int64 {
	if t.observation.object == nil || t.observation.older {
		return 0
	}
	number, err := strconv.ParseInt(t.observation.object.Annotations[decide.RevisionAnnotation], 10, 64)
	if err != nil || number <= p.rev.Number || slices.ContainsFunc(e.storedLocked(), func(s inventory.Stored) bool { return s.Number == number }) {
		return 0
	}
	return number
}

// unexplained makes of an object that was left to a newer revision one that was left to nobody. Its number counts for the
// next revision if it is proved that we wrote it, and no leap from the newest one.
func (e *Engine) unexplained(o *report.Object, s observation, newest int64) *report.Object {
	err := &report.UnexplainedError{Number: s.ahead}
	if number := s.ahead; e.us.Guards(o.Key.Namespace) && decide.Believable(number, newest) && e.us.Numbered(s.object.Tree(o.Key.GVK())) {
		err.Proved, o.Ahead = true, number
	}
	o.Action, o.Why, o.Claimed = decide.Failed, err.Error(), false
	o.Err = &report.ObjectError{Key: o.Key, Component: o.Component, Verb: "looking at", Err: err}
	return o
}
