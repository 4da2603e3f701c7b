package records

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

// maxTries is how often a write is sent that others come before.
const maxTries = 3

// errUnfinished is what a write has failed with that ended in a panic.
var errUnfinished = errors.New("the write was not finished")

// change is what a write changes of an entry, nil for what it does not.
type change struct {
	record *json.RawMessage
	note   *newNote
}

// changes are those of one write.
type changes map[machine.Key]change

// outcome is what a write has refused: changes that there was no room for, and notes that others have changed.
type outcome struct{ full, changed map[machine.Key]error }

// write stores what waits, and all notes that have gathered.
func (s *shard) write(ctx context.Context) (err error) {
	b, sent := s.begin()
	var came outcome
	err = errUnfinished // it stays if there is a panic
	defer func() { s.end(b, sent, came, err) }()
	if came, err = s.sendOver(ctx, sent); err != nil {
		err = fmt.Errorf("writing ConfigMap %s: %w", s.key, err)
	}
	return err
}

// begin takes what is to be written.
func (s *shard) begin() (*batch, changes) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := changes{}
	for key, raw := range s.waiting {
		if s.refused[key] == nil { // not before that is told
			sent[key] = change{record: &raw}
		}
	}
	b := s.open
	if b != nil {
		for key, n := range b.notes {
			c := sent[key]
			c.note = &n
			sent[key] = c
		}
	}
	s.open, s.sending, s.wrote = nil, sent, s.options.Clock.Now()
	return b, sent
}

// end notes what came of a write.
func (s *shard) end(b *batch, sent changes, came outcome, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sending, s.failed, s.stale = nil, err, err != nil || len(came.full) > 0
	if err == nil {
		s.since = s.wrote // what waits now came later
		for key, c := range sent {
			if c.record == nil {
				continue
			}
			if came.full[key] != nil {
				s.refused[key] = came.full[key]
			} else if !s.isNewer(key, c) {
				delete(s.waiting, key)
			}
		}
	}
	if b != nil {
		refused := maps.Clone(came.changed)
		if refused == nil {
			refused = map[machine.Key]error{}
		}
		maps.Copy(refused, came.full)
		b.ends(err, refused)
	}
}

// sendOver sends changes over what is there. What somebody else has stored meanwhile of other keys is kept.
func (s *shard) sendOver(ctx context.Context, sent changes) (came outcome, err error) {
	for range maxTries {
		came, err = s.send(ctx, sent)
		switch {
		case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
			if err := s.load(ctx); err != nil {
				return outcome{}, err
			}
		case apierrors.IsNotFound(err):
			s.lost() // somebody has deleted it
		default:
			return came, err
		}
	}
	return outcome{}, err
}

func (s *shard) send(ctx context.Context, sent changes) (came outcome, err error) {
	s.mu.Lock()
	stored, amiss := s.stored, s.amiss
	s.mu.Unlock()
	var wanted entries
	wanted, came.changed = s.over(stored, sent)
	lasting := s.lasting(stored)
	all, packed, full, err := fit(lasting, wanted, s.room)
	if err != nil {
		return outcome{}, err
	}
	came.full = full
	if s.object != nil && !amiss && all.equal(stored) {
		return came, nil
	}
	if err := s.request(ctx, packed, len(all) == 0); err != nil {
		return outcome{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.amiss, s.stored = false, all
	for key, e := range lasting.with(wanted) {
		if !bytes.Equal(e.Record, all[key].Record) && full[key] == nil && !s.isNewer(key, sent[key]) {
			delete(s.held, key) // it has lost its transitions
		}
	}
	return came, nil
}

// isNewer says that a record has come since a change was taken. mu is held.
func (s *shard) isNewer(key machine.Key, c change) bool {
	now, waits := s.waiting[key]
	return waits && (c.record == nil || !bytes.Equal(now, *c.record))
}

// over are the entries that changes lead to, and the errors of notes that are not what was seen any more.
func (s *shard) over(stored entries, sent changes) (wanted entries, changed map[machine.Key]error) {
	wanted, changed = entries{}, map[machine.Key]error{}
	for key, c := range sent {
		e := entry{Record: stored[key].Record, Note: s.options.worthy(stored[key].Note)}
		if c.record != nil {
			e.Record = *c.record
		}
		switch {
		case c.note == nil:
		case s.isSeen(stored, key, *c.note):
			e.Note = c.note.note
		default:
			changed[key] = ErrNoteChanged
		}
		record, err := s.options.beside(e.Note, e.Record)
		if err != nil {
			record = nil // it is forged: ours have room beside the longest note
		}
		wanted[key] = entry{Record: record, Note: e.Note}
	}
	return wanted, changed
}

// lasting are entries without the notes that are expired.
func (s *shard) lasting(all entries) entries {
	lasting := entries{}
	for key, e := range all {
		if e.Note = s.options.worthy(e.Note); e.size() > 0 {
			lasting[key] = e
		}
	}
	return lasting
}

// request sends one request that makes the ConfigMap what it is to be, or removes one that is empty.
func (s *shard) request(ctx context.Context, packed []byte, empty bool) error {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.key.Namespace, Name: s.key.Name}}
	if s.object != nil {
		object = s.object.DeepCopy()
	}
	object.BinaryData = map[string][]byte{contentKey: packed}
	var err error
	switch {
	case s.object == nil && empty:
		return nil
	case s.object == nil:
		err = s.options.Writer.Create(ctx, object)
	case empty:
		err = s.options.Writer.Delete(ctx, object, client.Preconditions{ResourceVersion: &object.ResourceVersion})
		object = nil
	default:
		err = s.options.Writer.Update(ctx, object)
	}
	if err != nil {
		return err
	}
	if object != nil {
		object.BinaryData = nil // the entries are held already
	}
	s.object = object
	return nil
}
