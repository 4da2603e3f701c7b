package records

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

// shard is one ConfigMap of entries.
type shard struct {
	key     client.ObjectKey
	options *Options
	room    int // for what is packed, in bytes
	own     func(machine.Key) bool
	// first is where it is found when it is read first, nil for the API server.
	first *listed
	flow  *flow

	// turn is taken during a request, and guards object; mu is held for a moment, and guards the rest.
	// Whoever holds mu does not ask for the turn.
	turn   chan struct{}
	object *corev1.ConfigMap // as last seen, without its content

	mu sync.Mutex
	// loaded says that stored is known, stale that it is to be read again since a write has failed, and amiss that the
	// API server has lost or spoilt what is stored.
	loaded, stale, amiss bool
	stored               entries
	// held are the newest records that were saved, as they were: less may be stored of them, or nothing. They are changed by nobody.
	held map[machine.Key]*machine.Record
	// waiting are records that the next write takes along, nil for one that it removes, since the oldest of them came,
	// and refused the errors of those that there was no room for.
	waiting map[machine.Key]json.RawMessage
	since   time.Time
	refused map[machine.Key]error
	// open are the notes that the next write takes along, and sending is what the write under way takes.
	open    *batch
	sending changes
	// offered are the notes that were offered and not stored, until that is told.
	offered map[machine.Key]offer
	// wrote is when a write was tried last, and failed why it failed, nil if it did not; the same of reading.
	wrote, read    time.Time
	failed, unread error
}

func newShard(o *Options, name string, room int, own func(machine.Key) bool) *shard {
	return &shard{
		key: client.ObjectKey{Namespace: o.Namespace, Name: name}, options: o, room: room, own: own, turn: make(chan struct{}, 1),
		held: map[machine.Key]*machine.Record{}, waiting: map[machine.Key]json.RawMessage{}, refused: map[machine.Key]error{},
		offered: map[machine.Key]offer{},
	}
}

// takeTurn waits until no request is under way.
func (s *shard) takeTurn(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for ConfigMap %s: %w", s.key, ctx.Err())
	}
}

func (s *shard) endTurn() { <-s.turn }

// record is the newest of a key.
func (s *shard) record(ctx context.Context, key machine.Key) (record machine.Record, found bool, err error) {
	if err := s.fill(ctx); err != nil {
		return machine.Record{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if held := s.held[key]; held != nil {
		return *held, true, nil
	}
	raw, waits := s.waiting[key]
	if !waits {
		raw = s.stored[key].Record
	}
	record, found = Decoded(raw)
	return record, found, nil
}

// note is what is stored of a key, nil for nothing.
func (s *shard) note(ctx context.Context, key machine.Key) (json.RawMessage, error) {
	if err := s.fill(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.options.worthy(s.stored[key].Note)), nil
}

// keys are those of what is stored.
func (s *shard) keys(ctx context.Context) ([]machine.Key, error) {
	if err := s.fill(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.stored)), nil
}

// isEmpty says that there is nothing that a new shard would not know.
func (s *shard) isEmpty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.stored)+len(s.held)+len(s.waiting) == 0
}

// fill has it known what is stored. What was known before a write has failed is
// good enough if it cannot be read again.
func (s *shard) fill(ctx context.Context) error {
	if known, err := s.isKnown(); known || err != nil {
		return err
	}
	if err := s.takeTurn(ctx); err != nil {
		return err
	}
	defer s.endTurn()
	if known, err := s.isKnown(); known || err != nil {
		return err
	}
	s.mu.Lock()
	s.stale = false
	before := s.loaded
	s.mu.Unlock()
	err := s.load(ctx)
	if err == nil || before {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() == nil {
		s.read, s.unread = s.options.Clock.Now(), err
	}
	return err
}

// isKnown says that nothing is to be read. The error of one that could not be read soon before stands for another try.
func (s *shard) isKnown() (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.loaded && s.unread != nil && s.isRecent(s.read) {
		return false, s.unread
	}
	return s.loaded && !s.stale, nil
}

// isRecent says that what failed then is not to be tried again yet; a clock that was set back holds nothing up.
func (s *shard) isRecent(at time.Time) bool {
	since := s.options.Clock.Now().Sub(at)
	return since >= 0 && since < retryAfter
}

// load reads what is stored.
func (s *shard) load(ctx context.Context) error {
	object, err := s.live(ctx)
	if apierrors.IsNotFound(err) {
		s.lost()
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading ConfigMap %s: %w", s.key, err)
	}
	read := unpack(object.BinaryData[contentKey], s.own, s.options.maxNote())
	object.BinaryData = nil // the entries are held already
	s.object = object
	if told := s.took(read); told != "" {
		s.options.Tell(s.key, told)
	}
	return nil
}

// live is the ConfigMap.
func (s *shard) live(ctx context.Context) (*corev1.ConfigMap, error) {
	if s.first != nil {
		object, known := s.first.take(ctx, s.key.Name)
		switch {
		case known && object == nil:
			return nil, apierrors.NewNotFound(corev1.Resource("configmaps"), s.key.Name)
		case known:
			return object, nil
		}
	}
	object := &corev1.ConfigMap{}
	return object, s.options.Live.Get(ctx, s.key, object)
}

// lost keeps what was known of a ConfigMap that is not there.
func (s *shard) lost() {
	had := s.object != nil
	s.object = nil
	s.mu.Lock()
	if s.stored == nil {
		s.stored = entries{}
	}
	s.loaded, s.amiss = true, len(s.stored) > 0
	had = had && s.amiss
	s.mu.Unlock()
	if had {
		s.options.Tell(s.key, "it is lost; it is written again from memory")
	}
}

// took takes what was read for what is stored, but for what is spoilt and was known before, and returns what is to be
// told. What somebody else has changed goes before what is held.
func (s *shard) took(read content) (told string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := read.all
	s.amiss = s.loaded && read.err != nil
	if s.amiss {
		all = s.stored
	}
	for _, key := range read.dropped {
		if known, is := s.stored[key]; is {
			all[key], s.amiss = known, true
		}
	}
	switch {
	case s.amiss:
		told = "it is spoilt; it is written again from memory"
	case read.err != nil:
		told = fmt.Sprintf("it is spoilt, and its instances begin anew without their notes: %s", machine.Shorten(read.err.Error(), machine.MaxMessage))
	case len(read.dropped) > 0:
		told = fmt.Sprintf("%d entries of it are spoilt, and their instances begin anew, such as %s", len(read.dropped), machine.Shorten(string(read.dropped[0]), machine.MaxMessage))
	}
	s.replace(all)
	s.loaded, s.unread = true, nil
	return told
}

// replace lets go of what is held of records that are others now. mu is held.
func (s *shard) replace(all entries) {
	maps.DeleteFunc(s.held, func(key machine.Key, _ *machine.Record) bool {
		_, waits := s.waiting[key]
		return !waits && !bytes.Equal(s.stored[key].Record, all[key].Record)
	})
	s.stored = all
}
