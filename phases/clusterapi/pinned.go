package clusterapi

import (
	"context"
	"fmt"
	"slices"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/history"
)

// pinned is what is known of the revision that a pin is to; nil for nothing, unless that cannot be told yet. One that is current is
// known by the list itself, if the history is lost. So is the newest, if the history was lost after the pin was asked for, or after it was
// taken up, whatever is said of when it began: it may have been listed for that, and nobody knows the way back any more, but what is
// there stays.
func (p *Pass) pinned(ctx context.Context, act acts.Act) (known *history.Revision, waits string) {
	if err := p.History.Load(ctx); err != nil {
		return nil, "the history of revisions cannot be read: " + err.Error()
	}
	number := act.Revision()
	h, _ := p.History.Known()
	noted := h.Of(number)
	if noted != nil && noted.Result == history.Installed {
		return noted, ""
	}
	entry := p.world.currentEntry()
	lost := noted == nil && (h.Began.IsZero() || h.Began.After(act.At) || p.memory.takenUp == fmt.Sprint(act))
	if desired := p.world.desiredEntry(); desired != nil && desired.Revision > number && lost {
		entry = desired
	} else if entry == nil || entry.Revision != number {
		return nil, ""
	}
	switch {
	case p.proofs.prove(entry):
		r := remembered(entry)
		return &r, ""
	case !p.proofs.Seen && p.proofs.Err == nil:
		return nil, "the inventories are being listed, which prove whose revisions are"
	}
	return nil, ""
}

// relation is what the newest revision has to do with a pin.
type relation int

const (
	unrelated relation = iota
	// listedForIt is one that was listed for the pin.
	listedForIt
	// pinnedItself is the pinned one, or one that nobody can tell from it. That counts by the time of the pin.
	pinnedItself
)

// newestFor says what the newest revision has to do with a pin. One that was installed later than a pin may be taken up, or was listed
// for other reasons, counts for none, whatever it is made of, or a pin that was refused would begin days later. Of one of which
// nobody has noted why it was listed, since the history was lost, the images tell.
func (p *Pass) newestFor(told guards.Act, known history.Revision) relation {
	desired := p.world.desiredEntry()
	if desired == nil {
		return unrelated
	}
	newest := remembered(desired)
	if h, _ := p.History.Known(); h.Of(desired.Revision) != nil {
		newest = *h.Of(desired.Revision)
	}
	until, unnoted := told.At.Add(takeUpWithin), newest.Pin == nil && newest.Listed.IsZero()
	switch {
	case newest.Pin != nil && newest.Pin.Revision == told.Revision && newest.Pin.By == told.By && newest.Pin.At.Equal(told.At):
		return listedForIt
	case newest.Number == told.Revision && !newest.Listed.After(until) && !newest.Applied.After(until),
		unnoted && slices.Equal(newest.Images(), known.Images()):
		return pinnedItself
	}
	return unrelated
}

// takenBack has a pin that was taken up, and is not asked for any more, stay ended: nothing begins by a text that comes back.
func (p *Pass) takenBack() {
	asked := ""
	if p.world.api != nil {
		act, _ := acts.Read(acts.Pin, p.world.api.Annotations[acts.PinAct]) // one that is malformed is another one
		asked = fmt.Sprint(act)
	}
	if m := &p.memory; m.takenUp != "" && m.takenUp != asked {
		m.endedPin, m.endedPinBy, m.takenUp = m.takenUp, beginsNotAgain, ""
	}
}
