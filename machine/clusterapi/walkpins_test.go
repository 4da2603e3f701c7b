package clusterapi_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/capstan-capi/capstan/phases/acts"
)

// pins is what a walk knows of pins by itself, whatever the operator says of them.
type pins struct {
	// followed is the text of the one that a revision was listed for, for as long as nothing has ended it.
	followed string
	listed   int // how often a revision was listed for one
	// taken is the text of the one that the operator said in time that it has taken up.
	taken string
	// text is that of the last one, and forgot says that the history was lost while it was there.
	text   string
	forgot bool
}

// seen notes, before a pass is judged, whether what was followed has ended meanwhile.
func (p *pins) seen(w *walk) {
	text := w.AskedPin()
	if text != p.text {
		p.text, p.forgot = text, false
	}
	if text != p.followed || w.ended(text) {
		p.followed = ""
	}
	if w.facts.Pin != "" && w.isTimely(text) {
		p.taken = text
	}
}

// isTimely says that a pin may be taken up.
func (w *walk) isTimely(text string) bool {
	act, err := acts.Read(acts.Pin, text)
	return err == nil && w.Now().Before(act.At.Add(10*time.Minute))
}

// ended says that time, or another list of images, has ended a pin.
func (w *walk) ended(text string) bool {
	act, err := acts.Read(acts.Pin, text)
	return err != nil || act.Ended(w.Now()) || act.List() != "" && act.List() != w.ListPrint()
}

// listed compares the revision that a pass has listed with what was asked for: the images of the list, or those that a pin names.
// That one was written for the operator, has not ended, and is not older than the time in which one may be taken up, unless it was
// taken up in time, a revision was listed for it before, or it is to what was there already: the revision itself, or one of the same
// images, whoever has listed that. before and images are those of the newest revision that there was.
func (w *walk) listed(before int64, images []string) error {
	if w.facts.Pin == "" {
		// Before it was asked for, by a clock that was set back, a pin is void if nobody has noted what was listed for it.
		if act, err := acts.Read(acts.Pin, w.pins.followed); err == nil && !w.Now().Before(act.At) {
			return fmt.Errorf("a revision was listed by the list, although one was listed before for a pin that still stands:\n%s", w.pins.followed)
		}
		return w.listedOf(w.ListedImages())
	}
	number, text := int64(0), w.AskedPin()
	if _, err := fmt.Sscanf(w.facts.Pin, "pin to revision %d by", &number); err != nil {
		return fmt.Errorf("a revision was listed for %q: %w", w.facts.Pin, err)
	}
	act, err := acts.Read(acts.Pin, text)
	known, _ := w.operator.History.Known()
	pinned := known.Of(number)
	isThere := before == number || pinned != nil && slices.Equal(images, pinned.Images())
	switch {
	case err != nil || act.Revision() != number || w.ended(text):
		return fmt.Errorf("a revision was listed for %q, and asked for is %q", w.facts.Pin, text)
	case w.pins.followed == "" && w.pins.taken != text && !isThere && !w.pins.forgot:
		return fmt.Errorf("at %s a revision was listed after revision %d for a pin that nobody had taken up in time:\n%s", w.Now(), before, text)
	}
	if pinned == nil {
		return nil // the history was lost: what is there stays, whatever it is
	}
	w.pins.listed++
	w.pins.followed = text
	return w.listedOf(pinned.Images())
}

func (w *walk) listedOf(asked []string) error {
	if have := w.NewestImages(); !slices.Equal(have, asked) {
		return fmt.Errorf("a revision of images %v was listed, and %v were asked for by %q", have, asked, w.facts.Pin)
	}
	return nil
}
