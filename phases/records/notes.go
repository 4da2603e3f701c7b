package records

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// ErrNoteChanged says that a note was not stored since somebody else has stored one: who looks again sees that.
var ErrNoteChanged = errors.New("another one was stored meanwhile")

// maxGather bounds how long notes gather, as a multiple of [Options.Gather].
const maxGather = 40

// errNoteUnderWay says that a note was not stored since the one before it is not stored yet.
var errNoteUnderWay = errors.New("the one before it is still being stored")

// newNote is what takes the place of a note that was seen, nil for none.
type newNote struct{ seen, note json.RawMessage }

func (n newNote) compacted() (newNote, error) {
	seen, err := compacted(n.seen)
	note, wrong := compacted(n.note)
	return newNote{seen: seen, note: note}, errors.Join(err, wrong)
}

// batch are notes that are written together. What came of it is set before done is closed.
type batch struct {
	notes map[machine.Key]newNote
	// offers are the keys of those that nobody waits for.
	offers  []machine.Key
	done    chan struct{}
	err     error
	refused map[machine.Key]error
}

func (b *batch) ends(err error, refused map[machine.Key]error) {
	b.err, b.refused = err, refused
	close(b.done)
}

// came is what came of a note of a batch that is done.
func (b *batch) came(key machine.Key) error {
	if b.err != nil {
		return b.err
	}
	return b.refused[key]
}

// storeNote has a note stored together with all that gather meanwhile. Who comes first writes it for all, unless another
// write has taken it along.
func (s *shard) storeNote(ctx context.Context, key machine.Key, n newNote) error {
	if err := s.fill(ctx); err != nil {
		return err
	}
	in, err := s.join(key, n, false)
	if in.batch == nil || err != nil {
		return err
	}
	if in.leads {
		return s.lead(ctx, in.batch, key)
	}
	select {
	case <-in.batch.done:
		return in.batch.came(key)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// offer is an offered note that was not stored, and why.
type offer struct {
	note json.RawMessage
	err  error
}

// offerNote lets a note be stored together with all that gather meanwhile, and says whether it is stored already. Why one was not
// that was offered before is told once.
func (s *shard) offerNote(ctx context.Context, key machine.Key, n newNote) (stored bool, err error) {
	if err := s.fill(ctx); err != nil {
		return false, err
	}
	if stored, err := s.cameOf(key, n); stored || err != nil {
		return stored, err
	}
	in, err := s.join(key, n, true)
	switch {
	case errors.Is(err, errNoteUnderWay):
		return false, nil
	case in.batch == nil || err != nil:
		return err == nil, err
	case in.awaits:
		go s.await(context.WithoutCancel(ctx), in, key)
	}
	return false, nil
}

// cameOf says that an offered note is stored, or why it was not when it was offered before.
func (s *shard) cameOf(key machine.Key, n newNote) (stored bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.offered[key]
	delete(s.offered, key)
	if s.holdsLocked(key, n.note) {
		return true, nil
	}
	if !bytes.Equal(before.note, n.note) {
		return false, nil
	}
	return false, before.err
}

func (s *shard) holdsNote(key machine.Key, note json.RawMessage) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holdsLocked(key, note)
}

// holdsLocked says that a note is stored. mu is held.
func (s *shard) holdsLocked(key machine.Key, note json.RawMessage) bool {
	return bytes.Equal(s.stored[key].Note, note) && !s.amiss
}

// await writes a batch if nobody else does, and has those looked at again whose notes were offered.
func (s *shard) await(ctx context.Context, in place, key machine.Key) {
	b := in.batch
	if in.leads {
		s.leadSafely(ctx, b, key)
	}
	<-b.done
	s.mu.Lock()
	for _, key := range b.offers {
		if err := b.came(key); err != nil {
			s.offered[key] = offer{note: b.notes[key].note, err: err}
		}
	}
	s.mu.Unlock()
	for _, key := range b.offers {
		s.options.Wake(key)
	}
}

// leadSafely writes a batch, which is told of its error, and of a panic as an error: that of a pass would end the pass alone, too.
func (s *shard) leadSafely(ctx context.Context, b *batch, key machine.Key) {
	defer func() {
		if what := recover(); what != nil {
			s.options.Tell(s.key, fmt.Sprintf("a write of it ended in a panic with a %T", what))
		}
	}()
	_ = s.lead(ctx, b, key)
}

// place is that of a note in a batch, nil if nothing is to be written. Who leads writes the batch, and who awaits tells of its offers.
type place struct {
	batch         *batch
	leads, awaits bool
}

// join lets a note gather with others; nobody waits for one that is offered.
func (s *shard) join(key machine.Key, n newNote, offered bool) (place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gathers := false
	if s.open != nil {
		_, gathers = s.open.notes[key]
	}
	if under := s.sending[key]; gathers || under.note != nil {
		return place{}, errNoteUnderWay
	}
	if !s.isSeen(s.stored, key, n) {
		return place{}, ErrNoteChanged
	}
	if bytes.Equal(s.stored[key].Note, n.note) && !s.amiss {
		return place{}, nil
	}
	if err := s.justFailed(); err != nil {
		return place{}, err
	}
	in := place{leads: s.open == nil}
	if in.leads {
		s.open = &batch{notes: map[machine.Key]newNote{}, done: make(chan struct{})}
	}
	in.batch = s.open
	in.batch.notes[key] = n
	if offered {
		in.awaits = len(in.batch.offers) == 0
		in.batch.offers = append(in.batch.offers, key)
	}
	s.flow.comes(s.options.Clock.Now(), s.options.Gather)
	return in, nil
}

// isSeen says that what is stored is what a new note is to replace; one that is expired is as good as none.
func (s *shard) isSeen(stored entries, key machine.Key, n newNote) bool {
	return bytes.Equal(s.options.worthy(stored[key].Note), s.options.worthy(n.seen))
}

// lead writes a batch when its notes have gathered.
func (s *shard) lead(ctx context.Context, b *batch, key machine.Key) error {
	left := errUnfinished // it stays if there is a panic
	defer func() { s.abandon(b, left) }()
	err := s.gather(ctx, b)
	if err == nil {
		err = s.takeTurn(ctx)
	}
	if err != nil {
		left = err
		return err
	}
	defer s.endTurn()
	select {
	case <-b.done:
	default:
		_ = s.write(ctx) // the batch is told of its error
	}
	return b.came(key)
}

// gather waits until the notes of a batch have gathered, or somebody else has written them.
func (s *shard) gather(ctx context.Context, b *batch) error {
	began := s.options.Clock.Now()
	for wait := s.options.Gather; wait > 0; {
		if err := s.options.sleep(ctx, wait, b.done); err != nil {
			return err
		}
		last, pause := s.flow.last(s.options.Gather)
		waited, quiet := s.options.Clock.Now().Sub(began), s.options.Clock.Now().Sub(last)
		select {
		case <-b.done:
			return nil
		default:
		}
		if waited < 0 || quiet < 0 {
			return nil // a clock that was set back holds nothing up
		}
		wait = min(pause-quiet, maxGather*s.options.Gather-waited)
	}
	return ctx.Err()
}

// flow is when a note has come last to a store, and how long after the one before notes come, on the whole.
type flow struct {
	mu   sync.Mutex
	came time.Time
	gap  time.Duration
}

// comes notes that a note has come. A gap that is longer than the longest pause ends a flow.
func (f *flow) comes(at time.Time, longest time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	const newest = 8 // a gap counts for an eighth
	gap := min(max(at.Sub(f.came), 0), longest)
	f.gap, f.came = max(f.gap+(gap-f.gap)/newest, 0), at
	if gap == longest {
		f.gap = longest
	}
}

// last is when a note has come last, and how long a pause says that no more are on their way: many times as long as there was between
// the last ones, but neither as short as a processor that has other work to do makes it, nor longer than the longest.
func (f *flow) last(longest time.Duration) (came time.Time, pause time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	const many, part = 10, 3
	return f.came, min(max(many*f.gap, longest/part), longest)
}

// abandon ends a batch that nobody writes any more: its notes are not stored.
func (s *shard) abandon(b *batch, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == b {
		s.open = nil
		b.ends(err, nil)
	}
}
