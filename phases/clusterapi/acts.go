package clusterapi

import (
	"context"
	"maps"
	"slices"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/events"
	"github.com/capstan-capi/capstan/phases/recorder"
	"github.com/capstan-capi/capstan/phases/render/admission"
)

// readActs reads what people ask for by annotations of the ClusterAPI, and asks for a pass when time changes that.
func (p *Pass) readActs(ctx context.Context) []guards.Act {
	p.takenBack()
	if p.world.api == nil {
		return nil
	}
	var all []guards.Act
	now := p.Now()
	maps.DeleteFunc(p.memory.proved, func(text string, _ askedPolicy) bool {
		return !slices.Contains(slices.Collect(maps.Values(p.world.api.Annotations)), text)
	})
	for _, form := range acts.Forms {
		text, asked := p.world.api.Annotations[acts.Annotation(form.Name)]
		if !asked {
			continue
		}
		act, err := acts.Read(form.Name, text)
		told := guards.Act{Name: form.Name, About: act.About(), By: act.By, At: act.At, Until: act.Until, Reason: act.Reason}
		if err != nil {
			told.Void = err.Error() + nextOf(form)
		} else {
			told.Void, told.Ended = p.void(act, now)
			told.Used = told.Ended && p.isUsed(act)
			if form.Name == acts.Pin {
				p.askPin(ctx, act, &told)
			}
			if turns := act.Turns(now); !turns.IsZero() {
				p.lookAgainIn(turns.Sub(now))
			}
		}
		told.Unproved = told.By != "" && !told.Ended && p.unproved(ctx, text)
		all = append(all, told)
	}
	return all
}

// pauseOf is the pause among acts, as guards see it.
func pauseOf(all []guards.Act) guards.Pause {
	for _, act := range all {
		if act.Name == acts.Pause {
			return guards.Pause{Stands: act.Void == "", Why: act.String()}
		}
	}
	return guards.Pause{Why: "nobody asks for a pause any more"}
}

// askPolicyAgain is after how long it is asked again for a policy that was missing, or was not as this release has it.
const askPolicyAgain = time.Minute

// askedPolicy is what was found of the policy, and when it was asked for.
type askedPolicy struct {
	holds bool
	at    time.Time
}

// unproved says that no policy holds the name in an act against who wrote it, as the one that this release brings does. Whether one
// did when it was written nobody can tell. One that was there once is not asked for again, since what becomes of it later does not
// matter. One that was not may come a moment after the operator, which is not to tell otherwise than it would after a restart.
func (p *Pass) unproved(ctx context.Context, text string) bool {
	last, known := p.memory.proved[text]
	if age := p.Now().Sub(last.at); known && (last.holds || age >= 0 && age < askPolicyAgain) {
		if !last.holds {
			p.lookAgainIn(askPolicyAgain - age)
		}
		return !last.holds
	}
	key := client.ObjectKey{Name: acts.Policy}
	policy, binding := &admissionregistrationv1.ValidatingAdmissionPolicy{}, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}
	proved, err := read(ctx, p.Live, key, policy)
	if proved && err == nil {
		proved, err = read(ctx, p.Live, key, binding)
	}
	proved = proved && admission.HoldActs(policy, binding)
	if err != nil {
		p.Log.Info("whether acts are proved cannot be told", "error", err.Error())
		return true
	}
	if p.memory.proved == nil {
		p.memory.proved = map[string]askedPolicy{}
	}
	p.memory.proved[text] = askedPolicy{proved, p.Now()}
	if !proved {
		p.lookAgainIn(askPolicyAgain)
	}
	return !proved
}

// recordActs puts into the flight recorder which acts are seen and which have ended since the last pass.
func (p *Pass) recordActs(now []guards.Act) {
	began, ended, void := turned(p.memory.acts, now)
	at := p.Now()
	for _, act := range slices.Concat(began, void) {
		p.recorder.Add(recorder.Asked(at, act.Name, "seen", act.String()))
	}
	for _, act := range ended {
		p.recorder.Add(recorder.Asked(at, act.Name, "ended", act.String()))
	}
	p.memory.acts = now
}

// turned are the acts that stand now and did not before, those that stood and do not any more or that had ended when they were first
// seen, and those that are void now and were not told so before. One that has ended and is there says what has ended it.
func turned(before, now []guards.Act) (began, ended, void []guards.Act) {
	stands := func(a guards.Act) bool { return a.Void == "" }
	without := func(all, known []guards.Act, counts func(guards.Act) bool) []guards.Act {
		return slices.DeleteFunc(slices.Clone(all), func(a guards.Act) bool {
			return !counts(a) || slices.ContainsFunc(known, func(k guards.Act) bool { return counts(k) && sameAct(a, k) })
		})
	}
	isVoid := func(a guards.Act) bool { return !stands(a) && !a.Ended }
	ended = without(before, now, stands)
	for _, act := range now {
		if !act.Ended {
			continue
		}
		if at := indexOf(ended, act); at >= 0 {
			ended[at] = act
		} else if !act.Used && indexOf(before, act) < 0 {
			ended = append(ended, act)
		}
	}
	return without(now, before, stands), ended, without(now, before, isVoid)
}

func sameAct(a, b guards.Act) bool { return sameAsked(a, b) && a.Void == b.Void }

// sameAsked says that it is one act, whatever has become of it.
func sameAsked(a, b guards.Act) bool {
	return a.Name == b.Name && a.By == b.By && a.At.Equal(b.At) && a.Until.Equal(b.Until) && a.Reason == b.Reason
}

func indexOf(all []guards.Act, act guards.Act) int {
	return slices.IndexFunc(all, func(a guards.Act) bool { return sameAsked(a, act) })
}

// actEvents tells of acts that have begun, ended, or are void.
func actEvents(before, now []guards.Act) []events.Event {
	began, ended, void := turned(before, now)
	key := func(a guards.Act) string { return a.Name + " " + a.At.Format(time.RFC3339) + " " + a.Void }
	return slices.Concat(
		events.Appeared(events.Event{Reason: "ActStands", Action: "Ask"}, nil, began, key),
		events.Appeared(events.Event{Reason: "ActEnded", Action: "Ask"}, nil, ended, key),
		events.Appeared(events.Event{Reason: "ActVoid", Action: "Ask", Warns: true}, nil, void, key),
	)
}

// watchOnly does nothing: what there is to tell was seen, and when to look again was asked for, while looking.
func (p *Pass) watchOnly(context.Context) error { return nil }

// maxDiffers is how many objects are named that are not as they should be.
const maxDiffers = 20

// differs names the objects of revisions that are not there as the revisions have them, and why; more is how many there are beside them.
func differs(reports []*engine.Report) (texts []string, more int) {
	for _, object := range obstacles(reports, func(r *engine.Report) []*engine.Object {
		var those []*engine.Object
		for o := range r.Objects {
			if !o.Applied() && o.Action != engine.Unknown {
				those = append(those, o)
			}
		}
		return those
	}) {
		texts = append(texts, object.Key.String()+" "+object.Why)
	}
	named := texts[:min(len(texts), maxDiffers)]
	return named, len(texts) - len(named)
}
