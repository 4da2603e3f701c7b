package records

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

// shard is one ConfigMap of records.
type shard struct {
	key    client.ObjectKey
	room   int // for what is packed, in bytes
	own    func(machine.Key) bool
	live   client.Reader
	writer client.Writer
	now    func() time.Time

	// writing is held during a request, and guards object; mu is held for a moment, and guards the rest.
	// Whoever holds mu does not ask for writing.
	writing sync.Mutex
	object  *corev1.ConfigMap // as last seen, without its content

	mu sync.Mutex
	// loaded says that stored is known, and stale that it is to be read again since a write has failed.
	loaded, stale bool
	stored        entries
	// waiting are changes that the next write takes along, sending those of the write under way, and refused the errors
	// of those that there was no room for.
	waiting, sending entries
	refused          map[machine.Key]error
	// wrote is when a write was tried last, and failed why it failed, nil if it did not.
	wrote  time.Time
	failed error
}

// errUnfinished is what a write has failed with that ended in a panic.
var errUnfinished = errors.New("the write was not finished")

// record is the newest of a key, stored or waiting, nil for nothing.
func (s *shard) record(ctx context.Context, key machine.Key) ([]byte, error) {
	if err := s.fill(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if raw, waits := s.waiting[key]; waits {
		return raw, nil
	}
	return s.stored[key], nil
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

// fill has it known what is stored. What was known before a write has failed is
// good enough if it cannot be read again.
func (s *shard) fill(ctx context.Context) error {
	if s.isFresh() {
		return nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.isFresh() {
		return nil
	}
	s.mu.Lock()
	s.stale = false
	known := s.loaded
	s.mu.Unlock()
	if err := s.load(ctx); err != nil && !known {
		return err
	}
	return nil
}

func (s *shard) isFresh() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loaded && !s.stale
}

// write stores what waits.
func (s *shard) write(ctx context.Context) error {
	s.mu.Lock()
	changes := maps.Clone(s.waiting)
	maps.DeleteFunc(changes, func(key machine.Key, _ json.RawMessage) bool { return s.refused[key] != nil }) // not before that is told
	s.wrote, s.sending = s.now(), changes
	s.mu.Unlock()

	var refused map[machine.Key]error
	err := errUnfinished // it stays if there is a panic
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sending, s.failed, s.stale = nil, err, err != nil || len(refused) > 0
	}()
	if refused, err = s.sendOver(ctx, changes); err != nil {
		err = fmt.Errorf("writing ConfigMap %s: %w", s.key, err)
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.refused, refused)
	for key, raw := range changes {
		if now, waits := s.waiting[key]; waits && refused[key] == nil && bytes.Equal(now, raw) {
			delete(s.waiting, key)
		}
	}
	return nil
}

// sendOver sends changes over what is there. What somebody else has stored meanwhile of other keys is kept.
func (s *shard) sendOver(ctx context.Context, changes entries) (refused map[machine.Key]error, err error) {
	refused, err = s.send(ctx, changes)
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		if err := s.load(ctx); err != nil {
			return nil, err
		}
	case apierrors.IsNotFound(err):
		s.object = nil // somebody has deleted it
	default:
		return refused, err
	}
	return s.send(ctx, changes)
}

func (s *shard) send(ctx context.Context, changes entries) (refused map[machine.Key]error, err error) {
	s.mu.Lock()
	stored := s.stored
	s.mu.Unlock()
	all, packed, refused, err := fit(stored, changes, s.room)
	if err != nil {
		return nil, err
	}
	if s.object != nil && all.equal(stored) {
		return refused, nil
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.key.Namespace, Name: s.key.Name}}
	if s.object != nil {
		object = s.object.DeepCopy()
	}
	object.BinaryData = map[string][]byte{contentKey: packed}
	switch {
	case s.object == nil && len(all) == 0:
		object = nil
	case s.object == nil:
		err = s.writer.Create(ctx, object)
	case len(all) == 0:
		err = s.writer.Delete(ctx, object, client.Preconditions{ResourceVersion: &object.ResourceVersion})
		object = nil
	default:
		err = s.writer.Update(ctx, object)
	}
	if err != nil {
		return nil, err
	}
	s.took(object, all)
	return refused, nil
}

// load reads what is stored. What cannot be read is not kept, and what was known of a ConfigMap that is gone is.
func (s *shard) load(ctx context.Context) error {
	object := &corev1.ConfigMap{}
	err := s.live.Get(ctx, s.key, object)
	if apierrors.IsNotFound(err) {
		s.mu.Lock()
		known := entries{}.with(s.stored)
		s.mu.Unlock()
		s.took(nil, known)
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading ConfigMap %s: %w", s.key, err)
	}
	s.took(object, unpack(object.BinaryData[contentKey], s.own))
	return nil
}

func (s *shard) took(object *corev1.ConfigMap, all entries) {
	if object != nil {
		object.BinaryData = nil // the records are held already
	}
	s.object = object
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded, s.stored = true, all
}
