package records

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	notes   map[machine.Key]newNote
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
	b, first, err := s.join(key, n)
	if b == nil || err != nil {
		return err
	}
	if first {
		return s.lead(ctx, b, key)
	}
	select {
	case <-b.done:
		return b.came(key)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join lets a note gather with others. There is no batch if nothing is to be written.
func (s *shard) join(key machine.Key, n newNote) (b *batch, first bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open != nil {
		_, first = s.open.notes[key]
	}
	if under := s.sending[key]; first || under.note != nil {
		return nil, false, errNoteUnderWay
	}
	if !s.isSeen(s.stored, key, n) {
		return nil, false, ErrNoteChanged
	}
	if bytes.Equal(s.stored[key].Note, n.note) && !s.amiss {
		return nil, false, nil
	}
	if err := s.justFailed(); err != nil {
		return nil, false, err
	}
	first = s.open == nil
	if first {
		s.open = &batch{notes: map[machine.Key]newNote{}, done: make(chan struct{})}
	}
	s.open.notes[key] = n
	s.flow.comes(s.options.Clock.Now())
	return s.open, first, nil
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
		waited, quiet := s.options.Clock.Now().Sub(began), s.options.Clock.Now().Sub(s.flow.last())
		select {
		case <-b.done:
			return nil
		default:
		}
		if waited < 0 || quiet < 0 {
			return nil // a clock that was set back holds nothing up
		}
		wait = min(s.options.Gather-quiet, maxGather*s.options.Gather-waited)
	}
	return ctx.Err()
}

// flow is when a note has come last to a store.
type flow struct {
	mu   sync.Mutex
	came time.Time
}

func (f *flow) comes(at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.came = at
}

func (f *flow) last() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.came
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
