package clusterapi

import (
	"fmt"
	"slices"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/engine"
)

// standing is an act that counts now, nil if there is none of that name.
func (p *Pass) standing(name string) *acts.Act {
	if p.world.api == nil {
		return nil
	}
	act, err := acts.Read(name, p.world.api.Annotations[acts.Annotation(name)])
	if err != nil {
		return nil
	}
	if void, _ := p.void(act, p.Now()); void != "" {
		return nil
	}
	return &act
}

// keyOf is the identity of an object that an act names.
func keyOf(o acts.Object) engine.Key {
	return engine.Key{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// leftAlone are the objects that people ask to leave as they are, with who asks and until when; nil if there is none.
func (p *Pass) leftAlone() map[engine.Key]string {
	act := p.standing(acts.LeaveAlone)
	if act == nil {
		return nil
	}
	all := map[engine.Key]string{}
	for _, o := range act.Objects() {
		all[keyOf(o)] = fmt.Sprintf("by %s until %s (%s)", act.By, machine.Moment(act.Until), act.Reason)
	}
	return all
}

// inputs are a fingerprint of all that people can change; an act that stands is among that, and so is its end. A pause is not:
// it has rows of its own, and neither is a consent to lose data, which says of objects that they may go.
func (p *Pass) inputs() string {
	inputs := p.world.inputs
	for _, name := range []string{acts.LeaveAlone, acts.Adopt, acts.ConsentToUninstall} {
		if p.standing(name) == nil {
			continue
		}
		with, err := fingerprint([]string{inputs, p.world.api.Annotations[acts.Annotation(name)]})
		if err != nil {
			return p.world.inputs
		}
		inputs = with
	}
	return inputs
}

// tellLeft tells how the objects are that are left alone: as the newest revision has them, or else the one that is installed.
func (p *Pass) tellLeft(reports []*engine.Report) []guards.LeftAlone {
	act := p.standing(acts.LeaveAlone)
	if act == nil {
		return nil
	}
	left := obstacles(reports, (*engine.Report).LeftAlone)
	var all []guards.LeftAlone
	for _, o := range act.Objects() {
		told := guards.LeftAlone{Object: o.String()}
		at := slices.IndexFunc(left, func(l *engine.Object) bool { return l.Key.Identity() == keyOf(o) })
		switch {
		case at >= 0:
			told.Differs = left[at].Left.Differs
			if left[at].Probe.Answer != engine.AnswerTrue {
				told.Probe = left[at].Probe.Message
			}
		case knows(reports, keyOf(o)):
			told.Differs = "how it is has not been seen yet"
		case p.desired != nil:
			told.Nowhere = true
		}
		all = append(all, told)
	}
	return all
}

// knows says that a revision has an object, whatever is known of that.
func knows(reports []*engine.Report, key engine.Key) bool {
	for _, report := range reports {
		for o := range report.Objects {
			if o != nil && o.Key.Identity() == key {
				return true
			}
		}
	}
	return false
}
