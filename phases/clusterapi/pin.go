package clusterapi

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/history"
	"github.com/capstan-capi/capstan/phases/images"
)

const (
	// takeUpWithin is how long after it was asked for a pin may be taken up. Later nobody expects it.
	takeUpWithin = 10 * time.Minute
	// tryPinAgain is how long what came of looking whether a pin may be taken up is not looked for again.
	tryPinAgain = 30 * time.Second
)

// pin is what the history has of a revision, whose images take the place of the list. A nil one does not stand.
type pin struct {
	told    guards.Act
	images  []images.Ref
	release string
	// taken says that it counts, differs that the list asks for other images; beside are those of the list that are looked into to tell.
	taken, differs bool
	beside         []images.Ref
	// unclear says why nobody can tell what the list asks for.
	unclear string
}

func (p *pin) stands() bool { return p != nil && p.taken }

// pinned says by what the world is pinned, empty if it is not, and whether the list of images asks for others. As long as that cannot
// be told, it may be.
func (w world) pinned() (by string, differs bool) {
	if w.pin.stands() {
		return w.pin.told.String(), w.pin.differs
	}
	return w.pinWaits, w.pinWaits != ""
}

// asks are the images that are fetched for it.
func (p *pin) asks() []images.Ref {
	if p == nil {
		return nil
	}
	return slices.Concat(p.images, p.beside)
}

// releaseOf is the release that the images of a plan are of.
func (p *Phases) releaseOf(w world) string {
	if w.pin.stands() {
		return w.pin.release
	}
	return p.Release
}

// triedPin is what came of looking whether a pin may be taken up: why not, empty if it may.
type triedPin struct {
	text string
	at   time.Time
	why  string
}

// askPin obeys a pin that is well formed, or tells why not.
func (p *Pass) askPin(ctx context.Context, act acts.Act, told *guards.Act) {
	told.Revision = act.Revision()
	text := fmt.Sprint(act)
	defer func() {
		if told.Ended {
			p.memory.endedPin, p.memory.endedPinBy, p.memory.takenUp = text, cmp.Or(told.Void, beginsNotAgain), ""
		}
	}()
	if p.endsPin(act, text, told); told.Ended {
		return
	}
	w := &p.world
	early := told.Void // by a clock that is behind, which ends nothing that was taken up
	known, waits := p.pinned(ctx, act)
	switch {
	case waits != "":
		p.awaitPin(told, waits)
		return
	case known == nil && early != "":
		return
	case known == nil:
		told.Void = fmt.Sprintf("it is not taken up: the history does not have revision %d as installed", told.Revision)
		return
	case Minor(known.Release) != Minor(p.Release):
		told.Void, told.Ended = fmt.Sprintf("it ended with another minor release: revision %d is of %s, and the operator of %s", told.Revision, known.Release, p.Release), true
		return
	}
	w.pin = &pin{told: *told, release: known.Release}
	for _, image := range known.Images() {
		w.pin.images = append(w.pin.images, images.Ref(image))
	}
	p.decidePin(ctx, text, early, *known, told)
	if known.Number != told.Revision {
		told.Waits = "the history was lost after it was asked for: what is newest stays as it is until it is asked for again, or taken back"
	}
	if w.pin.stands() {
		p.memory.takenUp = text
		p.putInPlace(ctx)
		told.Same, told.Unclear = !w.pin.differs, w.pin.unclear
		w.pin.told.Same, w.pin.told.Unclear = told.Same, told.Unclear
	}
}

// awaitPin has nothing planned until it can be told whether a pin counts.
func (p *Pass) awaitPin(told *guards.Act, why string) {
	told.Waits, p.world.pinWaits = why, "whether a pin counts cannot be told yet: "+why
	p.lookAgainIn(askAgainSoon)
}

// decidePin says whether a pin counts. early is what is told of it by a clock that is behind, empty for nothing.
func (p *Pass) decidePin(ctx context.Context, text, early string, known history.Revision, told *guards.Act) {
	w := &p.world
	newest := p.newestFor(*told, known)
	w.pin.taken = p.memory.takenUp == text || newest == listedForIt || newest == pinnedItself && early == ""
	switch {
	case w.pin.taken:
		told.Void = ""
	case newest == pinnedItself && told.At.Sub(p.Now()) <= takeUpWithin: // by another clock it may have counted
		w.pin, told.Void = nil, ""
		p.awaitPin(told, early)
	case early != "":
		w.pin = nil
	default:
		p.takeUp(ctx, text, told)
	}
}

// beginsNotAgain is told of a pin that has ended, or was taken back, and whose text is there.
const beginsNotAgain = "it has ended before, and does not begin again; ask again"

// endsPin tells what has ended a pin.
func (p *Pass) endsPin(act acts.Act, text string, told *guards.Act) {
	list, now := act.List(), p.world.list
	switch {
	case told.Ended:
	case p.memory.endedPin == text:
		told.Void, told.Ended = p.memory.endedPinBy, true
	case list != "" && now != "" && list != now:
		told.Void, told.Ended = "it ended when the list of images changed", true
	}
}

// takeUp looks whether a pin may be taken up: nothing is listed for one before its images are at hand, and before none of its
// definitions would be refused.
func (p *Pass) takeUp(ctx context.Context, text string, told *guards.Act) {
	until := told.At.Add(takeUpWithin)
	if !p.Now().Before(until) {
		p.world.pin = nil
		told.Void = fmt.Sprintf("it was not taken up within %s, and nothing begins later by surprise; ask again", takeUpWithin)
		return
	}
	p.lookAgainIn(until.Sub(p.Now()))
	var missing []string
	for _, ref := range p.world.pin.images {
		switch state := p.Images.State(ref); {
		case state.Phase == images.Ready:
		case state.Err != nil:
			told.Void = fmt.Sprintf("it is not taken up: image %s is not to be had: %v; %s", ref, state.Err, looksUntil(until))
			return
		default:
			missing = append(missing, string(ref))
		}
	}
	if len(missing) > 0 {
		told.Waits = "images are being fetched: " + strings.Join(missing, ", ")
		return
	}
	last := p.memory.triedPin
	if age := p.Now().Sub(last.at); last.text != text || age < 0 || age >= tryPinAgain {
		last = triedPin{text: text, at: p.Now(), why: p.whyNotPinned(ctx)}
		p.memory.triedPin = last
	}
	if last.why != "" {
		told.Void = "it is not taken up: " + last.why + "; " + looksUntil(until)
		p.lookAgainIn(tryPinAgain)
		return
	}
	p.world.pin.taken = true
}

// looksUntil says for how long a pin that is not taken up may be taken up still.
func looksUntil(until time.Time) string {
	return "that is looked at again until " + machine.Moment(until) + ", unless capstan unpin takes it back"
}

// whyNotPinned renders what the pin asks for and holds its definitions against those that there are.
func (p *Pass) whyNotPinned(ctx context.Context) string {
	w := p.world
	w.refs, w.refsErr = w.pin.images, nil
	profiles, _ := p.profiles(w.refs) // they are at hand
	rendered := p.render(ctx, w, "a pin", profiles)
	if rendered.err != nil {
		return rendered.err.Error()
	}
	narrowed, err := p.Engine.Narrowed(ctx, &engine.Revision{
		Name: "pin", Number: w.pin.told.Revision, ContentID: rendered.revision.ContentID, Unmanaged: rendered.revision.Unmanaged, Components: rendered.components,
	})
	if err != nil {
		return err.Error()
	}
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(narrowed)) {
		texts = append(texts, fmt.Sprintf("the update of CustomResourceDefinition %s is refused: it %s", name, narrowed[name]))
	}
	return strings.Join(texts, "; ")
}

// putInPlace has the pinned images take the place of the list.
func (p *Pass) putInPlace(ctx context.Context) {
	w := &p.world
	w.pin.differs = !p.listAsksForPinned(ctx)
	w.refs, w.refsErr = slices.Clone(w.pin.images), nil
	w.inputs += " " + w.pin.told.At.Format(time.RFC3339) + fmt.Sprint(w.pin.told.Revision)
}

// listAsksForPinned says that the list of images asks for the pinned ones, and for nothing else. A release lists images for all
// platforms: what is neither pinned nor known to bring nothing is fetched and looked into, once.
func (p *Pass) listAsksForPinned(ctx context.Context) bool {
	w, pinned := p.world, p.world.pin
	if w.listRelease != "" || w.refsErr != nil {
		return false
	}
	needed := sorted(p.neededOf(w, nil))
	if slices.Equal(needed, pinned.images) {
		return true
	}
	if slices.ContainsFunc(pinned.images, func(ref images.Ref) bool { return !slices.Contains(needed, ref) }) {
		return false
	}
	pinned.beside = needed
	profiles, missing := p.profiles(needed)
	key := fmt.Sprint(w.inputs, needed)
	switch {
	case missing.err != nil:
		pinned.unclear = missing.err.Error()
		return false
	case missing.waiting != "":
		pinned.unclear = missing.waiting
		return false
	case p.memory.besidePin == key:
		return false
	}
	w.pin, p.memory.besidePin = nil, key
	p.learnUnneeded(w, plan{revision: p.render(ctx, w, "the list beside a pin", profiles).revision, needed: needed})
	return slices.Equal(sorted(p.neededOf(w, nil)), pinned.images)
}

// Minor is the minor release of a version.
func Minor(release string) string {
	parts := strings.SplitN(release, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}
