package records

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

// shard is one ConfigMap of records.
type shard struct {
	key client.ObjectKey

	// writing is held during a request, and guards object and loaded; mu is held for a moment, and guards the rest.
	// Whoever holds mu does not ask for writing.
	writing sync.Mutex
	object  *corev1.ConfigMap // as last seen, without its content

	mu     sync.Mutex
	loaded bool
	stored entries
	next   *batch // what the next write takes along
}

// batch are records that are written together; one that is nil is removed.
type batch struct {
	changes entries
	done    bool
	err     error
}

// record is what is stored of a key, nil for nothing.
func (s *shard) record(ctx context.Context, live client.Reader, key machine.Key) ([]byte, error) {
	if raw, loaded := s.known(key); loaded {
		return raw, nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if raw, loaded := s.known(key); loaded {
		return raw, nil
	}
	if err := s.load(ctx, live); err != nil {
		return nil, err
	}
	raw, _ := s.known(key)
	return raw, nil
}

func (s *shard) known(key machine.Key) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stored[key], s.loaded
}

// save writes a record, together with all that wait for the write under way.
func (s *shard) save(ctx context.Context, live client.Reader, writer client.Writer, key machine.Key, raw []byte) error {
	s.mu.Lock()
	if s.next == nil {
		s.next = &batch{changes: entries{}}
	}
	mine := s.next
	mine.changes[key] = raw
	s.mu.Unlock()

	s.writing.Lock()
	defer s.writing.Unlock()
	if mine.done {
		return mine.err
	}
	s.mu.Lock()
	s.next = nil
	s.mu.Unlock()
	mine.done, mine.err = true, s.write(ctx, live, writer, mine.changes)
	return mine.err
}

// write stores changes. What somebody else has stored meanwhile of other keys is kept.
func (s *shard) write(ctx context.Context, live client.Reader, writer client.Writer, changes entries) error {
	err := s.send(ctx, writer, changes)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		if err = s.load(ctx, live); err == nil {
			err = s.send(ctx, writer, changes)
		}
	} else if apierrors.IsNotFound(err) {
		s.object = nil // somebody has deleted it
		err = s.send(ctx, writer, changes)
	}
	if err != nil {
		return fmt.Errorf("writing ConfigMap %s: %w", s.key, err)
	}
	return nil
}

func (s *shard) send(ctx context.Context, writer client.Writer, changes entries) error {
	all := maps.Clone(s.stored)
	maps.Copy(all, changes)
	maps.DeleteFunc(all, func(_ machine.Key, raw json.RawMessage) bool { return raw == nil })
	packed, err := pack(all)
	if err != nil {
		return err
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.key.Namespace, Name: s.key.Name}}
	if s.object != nil {
		object = s.object.DeepCopy()
	}
	object.BinaryData = map[string][]byte{contentKey: packed}
	switch {
	case s.object == nil:
		err = writer.Create(ctx, object)
	case len(all) == 0:
		err = writer.Delete(ctx, object, client.Preconditions{ResourceVersion: &object.ResourceVersion})
		object = nil
	default:
		err = writer.Update(ctx, object)
	}
	if err != nil {
		return err
	}
	s.took(object, all)
	return nil
}

// load reads what is stored. What cannot be read is not kept.
func (s *shard) load(ctx context.Context, live client.Reader) error {
	object := &corev1.ConfigMap{}
	err := live.Get(ctx, s.key, object)
	if apierrors.IsNotFound(err) {
		s.took(nil, entries{})
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading ConfigMap %s: %w", s.key, err)
	}
	s.took(object, unpack(object.BinaryData[contentKey]))
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
