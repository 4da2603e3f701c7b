package clusterapi

import (
	"slices"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

// data is what was found of objects that hold data of users, and that a revision does not have: which are retained beside it, and
// which are going or gone while a consent stands. looked says that this process has found it.
type data struct {
	number   int64
	looked   bool
	retained []guards.RetainedObject
	lost     []guards.LostObject
}

// dataIn is what an earlier process has told.
func dataIn(detail Detail) data {
	told := data{retained: detail.Retained, lost: detail.Lost}
	for _, r := range detail.Revisions {
		told.number = max(told.number, r.Number)
	}
	return told
}

// after is what is known after a teardown. One that could not look at anything yet leaves all as it was.
func (d data) after(report *engine.TeardownReport, number int64, given map[engine.Key]engine.Consent) data {
	seen := slices.Concat(report.Waiting, report.Gone, report.Retained, report.Left)
	if report.Wait != "" && len(seen) == 0 {
		return d
	}
	now := data{number: number, looked: true, retained: retainedObjects(report)}
	for _, l := range d.lostBeside(number, given) {
		if !slices.ContainsFunc(seen, func(o engine.Orphan) bool {
			return isTold(o.Key, l.Object, l.Group) && !undecided(o)
		}) {
			now.lost = append(now.lost, l)
		}
	}
	for _, o := range seen {
		consent, is := given[o.Key.Identity()]
		isGone := o.Action == engine.Deleted || o.Action == engine.Absent
		if is && (isGone || o.Action == engine.Terminating && o.UID == consent.UID) {
			now.lost = append(now.lost, guards.LostObject{Object: o.Key.String(), Group: o.Key.Group, Asked: consent.At})
		}
	}
	return now
}

// isTold says that an object is the one that is told of by this name, which may have been shortened, and group.
func isTold(key engine.Key, object, group string) bool {
	return short(key.String()) == short(object) && key.Group == group
}

// retainedBeside is what is told as retained beside a revision.
func (d data) retainedBeside(number int64) []guards.RetainedObject {
	if d.number != number {
		return nil
	}
	return d.retained
}

// listed is the same as far as inventories say, once they were seen. As long as this process has not looked itself, those that they
// list as retained are told, too.
func (d data) listed(stored engine.Orphans, number int64) []guards.RetainedObject {
	told := slices.Clone(d.retainedBeside(number))
	if d.looked && d.number == number || !stored.Seen {
		return told
	}
	is := func(key engine.Key) func(guards.RetainedObject) bool {
		return func(r guards.RetainedObject) bool { return isTold(key, r.Object, r.Group) }
	}
	told = slices.DeleteFunc(told, func(r guards.RetainedObject) bool {
		return !slices.ContainsFunc(slices.Concat(stored.Open, stored.Retained), func(key engine.Key) bool { return is(key)(r) })
	})
	for _, key := range stored.Retained {
		if !slices.ContainsFunc(told, is(key)) {
			told = append(told, guards.RetainedObject{Object: key.String(), Group: key.Group})
		}
	}
	return told
}

// lostBeside is what is told as going or gone beside a revision, of the consents that are given.
func (d data) lostBeside(number int64, given map[engine.Key]engine.Consent) (lost []guards.LostObject) {
	if d.number != number {
		return nil
	}
	for _, l := range d.lost {
		for key, consent := range given {
			if isTold(key, l.Object, l.Group) && consent.At.Equal(l.Asked) {
				lost = append(lost, l)
				break
			}
		}
	}
	return lost
}
