package clusterapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

// inTheWay is an error that may heal by itself: the other owner may let go, and
// the instances for whose sake an update is refused may be changed.
func inTheWay(report *engine.Report) error {
	if report == nil {
		return nil
	}
	var errs []error
	for _, text := range append(guards.Texts(collisions(report)), guards.Texts(refused(report))...) {
		errs = append(errs, errors.New(text))
	}
	return errors.Join(errs...)
}

// obstacles are the objects of one kind that reports tell of, each as the first report that has it does.
func obstacles(reports []*engine.Report, those func(*engine.Report) []*engine.Object) []*engine.Object {
	var all []*engine.Object
	for _, report := range reports {
		for _, object := range those(report) {
			if !slices.ContainsFunc(all, func(known *engine.Object) bool { return sameObject(known.Key, object.Key) }) {
				all = append(all, object)
			}
		}
	}
	return all
}

// sameObject says that two keys are of one object, in whatever versions it is applied.
func sameObject(a, b engine.Key) bool {
	a.Version = b.Version
	return a == b
}

func collisions(reports ...*engine.Report) []guards.Collision {
	var facts []guards.Collision
	for _, object := range obstacles(reports, (*engine.Report).Collisions) {
		fact := guards.Collision{Object: object.Key.String(), Group: object.Key.Group, Holder: object.Owner, Why: object.Why}
		if taken := object.Taken; taken != nil {
			fact.UID, fact.Adoptable, fact.Changes = string(taken.UID), taken.Adoptable, changed(taken.Changes)
		}
		facts = append(facts, fact)
	}
	return facts
}

// maxChanged is how many fields are named that an adoption would change.
const maxChanged = 20

// changed names fields, and who holds them. Their values are nobody's business who may only read what the operator tells.
func changed(changes []engine.Change) []string {
	var texts []string
	for _, c := range changes[:min(len(changes), maxChanged)] {
		text := "~ " + c.Path
		switch {
		case c.Added:
			text = "+ " + c.Path
		case c.Removed:
			text = "- " + c.Path
		}
		if len(c.Managers) > 0 {
			text += " (held by " + strings.Join(c.Managers, ", ") + ")"
		}
		texts = append(texts, text)
	}
	if more := len(changes) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return texts
}

func refused(reports ...*engine.Report) []guards.Refused {
	var facts []guards.Refused
	for _, object := range obstacles(reports, (*engine.Report).Refused) {
		facts = append(facts, guards.Refused{Object: object.Key.String(), Why: object.Why})
	}
	return facts
}

func contested(reports ...*engine.Report) []guards.Contested {
	var facts []guards.Contested
	for _, object := range obstacles(reports, (*engine.Report).Contested) {
		c := object.Conflict
		facts = append(facts, guards.Contested{Object: object.Key.String(), Field: c.Field, Managers: c.Managers, By: c.By(), Admission: c.Admission, Times: c.Times})
	}
	return facts
}

func findings(reports ...*engine.Report) []string {
	var texts []string
	for _, object := range obstacles(reports, (*engine.Report).WithFindings) {
		texts = append(texts, object.Key.String()+": "+object.Probe.Message)
	}
	return texts
}

// retainedObjects are those that are kept for their data. One that may go now is
// kept until the machine prunes.
func retainedObjects(report *engine.TeardownReport) []guards.RetainedObject {
	var facts []guards.RetainedObject
	for _, o := range report.Retained {
		facts = append(facts, guards.RetainedObject{Object: o.Key.String(), Group: o.Key.Group, Why: o.Why, Count: o.Count, Void: o.Void, Asked: o.Asked})
	}
	return facts
}

// finalizersPending counts the objects that are being deleted and wait for somebody to take finalizers off.
func finalizersPending(report *engine.TeardownReport) int {
	count := 0
	for _, o := range report.Waiting {
		if len(o.Finalizers) > 0 {
			count++
		}
	}
	return count
}

// wavesOf tells how far a revision is, wave by wave.
func wavesOf(report *engine.Report) []guards.Wave {
	var waves []guards.Wave
	for _, w := range report.Waves {
		wave := guards.Wave{Number: w.Number, Name: w.Name, Component: w.Component, Total: len(w.Objects)}
		for _, o := range w.Objects {
			if o.Complete() {
				wave.Done++
			}
		}
		waves = append(waves, wave)
	}
	return waves
}
