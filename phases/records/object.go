package records

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/newest"
)

// objects are those that records lie in, each that of its instance. A pass
// writes to the copy that it has loaded, or not at all.
type objects[O client.Object] struct {
	client client.Client
	blank  func() O
	// put copies what a store writes from one object to another.
	put func(from, to O)
	// send writes the status of an object that was another before, and returns what is stored.
	send func(ctx context.Context, before, after O) (O, error)

	mu sync.Mutex
	// loaded are the copies of passes under way; written are those that the cache does not show yet: what was put there,
	// UID and resourceVersion, and no more. Nobody else has written between, so the rest is as the cache has it. Lost,
	// they are read again, and a write from a copy that is too old is refused by the API server.
	loaded, written map[machine.Key]O
	wroteAt         map[machine.Key]time.Time
	// last are the versions of the last writes.
	last map[machine.Key]string
}

func newObjects[O client.Object](c client.Client, blank func() O, put func(from, to O)) *objects[O] {
	patch := func(ctx context.Context, before, after O) (O, error) {
		err := c.Status().Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		return after, err
	}
	return &objects[O]{client: c, blank: blank, put: put, send: patch, loaded: map[machine.Key]O{}, written: map[machine.Key]O{}, wroteAt: map[machine.Key]time.Time{}, last: map[machine.Key]string{}}
}

// load reads the object of a key, the newest copy that is known.
func (s *objects[O]) load(ctx context.Context, key machine.Key) (object O, found bool, err error) {
	object = s.blank()
	err = s.client.Get(ctx, ObjectOf(key), object, client.UnsafeDisableDeepCopy) // save copies what it changes
	s.mu.Lock()
	defer s.mu.Unlock()
	if apierrors.IsNotFound(err) {
		s.drop(key)
		return object, false, nil
	}
	if err != nil {
		return object, false, fmt.Errorf("reading %s: %w", key, err)
	}
	if written, is := s.written[key]; is && newest.WrittenFirst(written, object, time.Since(s.wroteAt[key])) {
		s.put(written, object)
		object.SetResourceVersion(written.GetResourceVersion())
	} else {
		delete(s.written, key)
		delete(s.wroteAt, key)
	}
	s.loaded[key] = object
	return object, true, nil
}

// save changes the status of the object that the pass has loaded, in one request; as a patch, it is refused if somebody
// has written to the object since.
func (s *objects[O]) save(ctx context.Context, key machine.Key, change func(O) (different bool, err error)) error {
	s.mu.Lock()
	before, is := s.loaded[key]
	delete(s.loaded, key)
	s.mu.Unlock()
	if !is {
		return nil // there is no object, and what is remembered of it goes with it
	}
	after, _ := before.DeepCopyObject().(O)
	different, err := change(after)
	if err != nil || !different {
		return err
	}
	after, err = s.send(ctx, before, after)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing the status of %s: %w", key, err)
	}
	written := s.blank()
	written.SetUID(after.GetUID())
	written.SetResourceVersion(after.GetResourceVersion())
	s.put(after, written)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written[key], s.wroteAt[key], s.last[key] = written, time.Now(), after.GetResourceVersion()
	return nil
}

// forget lets go of the copies of an object that is gone.
func (s *objects[O]) forget(key machine.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(key)
}

// drop is forget for whoever holds mu.
func (s *objects[O]) drop(key machine.Key) {
	delete(s.loaded, key)
	delete(s.written, key)
	delete(s.wroteAt, key)
	delete(s.last, key)
}
