package bootimage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"time"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
)

// forgottenAfter is how long after the last attempt all are forgotten, if the image stood.
const forgottenAfter = 24 * time.Hour

// attempts is the note of a target: how often it was given one wanted image. Texts of others are in it as hashes only, since
// there is little room.
type attempts struct {
	// Wanted is the image, Made how often it was given, and Last when that was begun last.
	Wanted string    `json:"w"`
	Made   int       `json:"n"`
	Last   time.Time `json:"t"`
	// UID is that of the object that was given it last.
	UID string `json:"i"`
	// Retry are the values of the annotation that were heard; each counts once.
	Retry heard `json:"r,omitempty"`
	// Upgraded says that a stub was upgraded for an attempt.
	Upgraded bool `json:"u,omitempty"`
}

// hashed stands for a text that may be long.
func hashed(text string) string {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(text)) // it never fails
	return fmt.Sprintf("%016x", hash.Sum64())
}

const (
	// digits are those of the hash of a value in what was heard, and maxHeard is how many values there is room for in a note. No other
	// counts until all attempts are forgotten: one that was let go for it would count again, and who takes turns at seventeen values
	// would have no end of attempts.
	digits   = 8
	maxHeard = 16
)

// heard are hashes of values, one after the other.
type heard string

func (h heard) has(value string) bool {
	for ; len(h) >= digits; h = h[digits:] {
		if string(h[:digits]) == hashed(value)[:digits] {
			return true
		}
	}
	return false
}

// isFull says that no other value counts.
func (h heard) isFull() bool { return len(h) >= maxHeard*digits }

// asks says that a value asks for more attempts.
func (h heard) asks(value string) bool { return value != "" && !h.has(value) && !h.isFull() }

// with is what was heard, and a value.
func (h heard) with(value string) heard {
	if !h.asks(value) {
		return h
	}
	return h + heard(hashed(value)[:digits])
}

// decodedAttempts are those of a note; one that cannot be read counts for nothing, as its loss would.
func decodedAttempts(note []byte) attempts {
	var a attempts
	if len(note) == 0 || json.Unmarshal(note, &a) != nil || a.Made < 0 {
		return attempts{}
	}
	return a
}

// expired says that all are forgotten by themselves, if the image stood. A time that lies ahead is of a clock that was set
// back since.
func (a attempts) expired(now time.Time) bool { return now.Sub(a.Last) >= forgottenAfter }

// Worth says of a note that it is not expired.
func (p *Phases) Worth(note json.RawMessage) bool {
	a := decodedAttempts(note)
	return a.Made > 0 && !(a.expired(p.Now()) && p.memory.stands(a.UID))
}

// at is how many attempts at an image count, for a target with a value of the annotation that asks for more. stood says that
// the target was seen with the image since the last.
func (a attempts) at(wanted, retry string, stood bool, now time.Time) int {
	if a.Wanted != hashed(wanted) || stood && a.expired(now) || a.Retry.asks(retry) {
		return 0
	}
	return a.Made
}

// made is how many attempts at the wanted image count.
func (p *Pass) made(wanted string) int {
	return p.attempts.at(wanted, p.Target.retry(), p.memory.stands(hashed(p.UID)), p.Now())
}

// tells is what guards see of the attempts at the wanted image. One that is the plan's own does not count while only memory has it: it
// is stored again, and nothing of it was sent.
func (p *Pass) tells(wanted string) guards.Attempts {
	a := guards.Attempts{Made: p.made(wanted), Own: p.plan != nil && p.plan.Counted, LastWriter: lastWriter(p.Target.Object), RetriesUsed: p.attempts.Retry.isFull()}
	if !a.Own && p.seesOffered() {
		a.Made = max(0, a.Made-1)
	}
	return a
}

// counted are the attempts with one more at an image.
func (p *Pass) counted(wanted string) attempts {
	next := p.next(p.attempts, wanted, p.UID, p.made(wanted))
	next.Upgraded = p.attempts.Upgraded && next.Made > 1
	return next
}

// Tried is what counts of the attempts at a target, for people.
type Tried struct {
	Made, Left int
	// Last is when the last was begun, zero for none; Forgotten is from when on none counts, if the image stood.
	Last, Forgotten time.Time
	// RetriesUsed says that no value of the annotation asks for more any longer.
	RetriesUsed bool
}

// Tried tells of the attempts that the pass has seen.
func (p *Pass) Tried() Tried {
	made := p.facts.Attempts.Made
	t := Tried{Made: made, Left: max(0, guards.MaxAttempts-made), RetriesUsed: p.facts.Attempts.RetriesUsed}
	if made == 0 {
		return t
	}
	if t.Last = p.attempts.Last; p.made(p.facts.Verdict.Wanted) == 0 || p.shared.attempts.Last.After(t.Last) {
		t.Last = p.shared.attempts.Last
	}
	t.Forgotten = t.Last.Add(forgottenAfter)
	return t
}

// next are attempts of which so many count, with one more.
func (p *Pass) next(a attempts, wanted, uid string, made int) attempts {
	return attempts{Wanted: hashed(wanted), Made: made + 1, Last: p.Now(), UID: hashed(uid), Retry: a.Retry.with(p.Target.retry())}
}

// store puts attempts in the place of those that were seen. What they are at has not been seen as it should be since.
func (p *Pass) store(ctx context.Context, key machine.Key, seen json.RawMessage, next attempts) (json.RawMessage, error) {
	note, err := json.Marshal(next)
	if err != nil {
		return nil, fmt.Errorf("encoding the attempts at %s: %w", key, err)
	}
	if err := p.Notes.StoreNote(ctx, key, seen, note); err != nil {
		return nil, err
	}
	p.memory.stand(next.UID, false)
	return note, nil
}

// retry is the value of the annotation that asks for more attempts.
func (t *Target) retry() string { return t.Object.GetAnnotations()[guards.RetryAnnotation] }

// writes says that something may be written: there is a plan, and it stands. A stored state alone allows nothing, nor does one
// that a move would have left if it could have been stored.
func (p *Pass) writes() bool {
	return p.plan != nil && p.Target != nil && guards.PlanStands.Answer(p.facts).Truth == machine.Yes
}

// count stores that the plan is an attempt, before anything of it is sent; once for each plan.
func (p *Pass) count(ctx context.Context) error {
	if p.plan.Counted || p.Tries {
		return nil
	}
	next := p.attempts
	if !p.seesOffered() {
		next = p.counted(p.plan.Wanted)
	}
	note, err := p.store(ctx, p.Key, p.seen, next)
	if err != nil {
		return err
	}
	p.attempts, p.seen = next, note
	p.replan(func(plan *plan) { plan.Counted = true })
	return nil
}

// seesOffered says that what was read is what was offered for the plan, though maybe from memory: that is the plan's own attempt, which
// is stored again as it is, and not counted on from.
func (p *Pass) seesOffered() bool {
	return p.plan != nil && p.plan.Offered != nil && bytes.Equal(p.seen, p.plan.Offered)
}

// offer has the plan stored as an attempt, and says whether it is by now. When it is, the target is looked at again.
func (p *Pass) offer(ctx context.Context) (stored bool, err error) {
	if p.plan.Counted || p.Tries {
		return true, nil
	}
	if !p.seesOffered() && (p.plan.Offered == nil || !bytes.Equal(p.seen, p.plan.Over)) {
		note, err := json.Marshal(p.counted(p.plan.Wanted))
		if err != nil {
			return false, fmt.Errorf("encoding the attempts at %s: %w", p.Key, err)
		}
		p.replan(func(plan *plan) { plan.Offered, plan.Over = note, p.seen })
		p.memory.stand(hashed(p.UID), false)
	}
	stored, err = p.Notes.OfferNote(ctx, p.Key, p.seen, p.plan.Offered)
	switch {
	case err != nil: // it may be stored all the same, which a look shows
		p.replan(func(plan *plan) { plan.Unstored = err })
	case stored:
		p.attempts, p.seen = decodedAttempts(p.plan.Offered), p.plan.Offered
		p.replan(func(plan *plan) { plan.Counted, plan.Unstored = true, nil })
	default:
		err = p.plan.Unstored // that it is tried again does not end a failure
	}
	return stored, err
}

// storedByNow has the plan counted if what is stored is what was offered for it. What only memory has does not count: after a restart
// the attempt would not be known.
func (p *Pass) storedByNow() {
	if p.seesOffered() && !p.plan.Counted && p.Notes.HoldsNote(p.Key, p.seen) {
		p.replan(func(plan *plan) { plan.Counted, plan.Unstored = true, nil })
	}
}

// sends notes that something of the plan is sent: from then on it is an attempt for good.
func (p *Pass) sends() { p.replan(func(plan *plan) { plan.Sent = true }) }

// replan changes the plan, for this pass and those after it.
func (p *Pass) replan(change func(*plan)) {
	changed := *p.plan
	change(&changed)
	p.plan = &changed
	p.memory.of(p.Key, func(r *remembered) { r.plan = &changed })
}

// upgraded notes that a stub was upgraded for the attempt, for whoever reads why an image does not stay. Lost, that is not told.
func (p *Pass) upgraded(ctx context.Context) {
	next := p.attempts
	next.Upgraded = true
	note, err := json.Marshal(next)
	if err == nil && p.Notes.StoreNote(ctx, p.Key, p.seen, note) == nil {
		p.attempts, p.seen = next, note
	}
}
