package recorder

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

// ConfigMap is the name of the ConfigMap that a recorder usually writes to.
const ConfigMap = "capstan-recorder"

// The times of writing. What happens together is written together, and a
// recorder is never what wears a cluster down.
const (
	// gather is how long an entry waits for others that are written together with it.
	gather = time.Second
	// writeEvery is the shortest time between two writes of the ConfigMap.
	writeEvery = 10 * time.Second
	// lastWrite is how long a process that ends may still write.
	lastWrite = 3 * time.Second
)

// Recorder keeps a log in a ConfigMap. What it is given is in the cluster ten
// seconds later at the latest; a process that is killed loses no more than that.
type Recorder struct {
	// live must read from the API server itself: a cache may not know the ConfigMap.
	live   client.Reader
	writer client.Writer
	key    client.ObjectKey
	clock  clock.WithTicker
	log    logr.Logger
	// fresh holds a token while added has an entry that is worth a write.
	fresh chan struct{}

	mu sync.Mutex
	// added is what is not written yet, last the newest of all; of what is written, stored is a copy, and object
	// the ConfigMap as last seen.
	added  []Entry
	last   Entry
	stored []Entry
	object *corev1.ConfigMap
}

// New makes a recorder that writes to the ConfigMap of a key. It sends no
// request before there is something to write.
func New(live client.Reader, writer client.Writer, key client.ObjectKey, clock clock.WithTicker, log logr.Logger) *Recorder {
	return &Recorder{live: live, writer: writer, key: key, clock: clock, log: log, fresh: make(chan struct{}, 1)}
}

// Add records an entry. It does no I/O, and may be called at any time by any goroutine.
func (r *Recorder) Add(e Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var fresh bool
	r.added, fresh = add(r.added, e)
	if fresh && !e.clipped().repeats(r.last) {
		r.announce()
	}
	r.last = e.clipped()
}

// announce is called with the lock held.
func (r *Recorder) announce() {
	select {
	case r.fresh <- struct{}{}:
	default:
	}
}

// Log records what one instance of a machine does. The zero one records nothing.
type Log struct {
	recorder *Recorder
	machine  string
	key      machine.Key
}

// Of is the log of an instance.
func (r *Recorder) Of(name string, key machine.Key) Log {
	return Log{recorder: r, machine: name, key: key}
}

// Add records an entry of the instance.
func (l Log) Add(e Entry) {
	if l.recorder == nil {
		return
	}
	e.Machine, e.Key = l.machine, l.key
	l.recorder.Add(e)
}

// Run writes what was added until ctx ends, and once more then. It never
// returns an error: a recorder that cannot write tries again and says so in the log.
func (r *Recorder) Run(ctx context.Context) error {
	// A write under way when ctx ends is finished: the server may have made it
	// already, and it would be made a second time.
	writing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lastWrite, cancel) })
	defer stop()
	var next time.Time
	for {
		select {
		case <-ctx.Done():
			r.end(writing)
			return nil
		case <-r.fresh:
		}
		select {
		case <-ctx.Done():
			r.end(writing)
			return nil
		case <-r.clock.After(max(gather, next.Sub(r.clock.Now()))):
		}
		next = r.clock.Now().Add(writeEvery)
		if err := r.write(writing); err != nil {
			r.log.Info("the recorder could not be written, trying again", "error", err.Error())
		}
	}
}

// end writes what is left.
func (r *Recorder) end(ctx context.Context) {
	if err := r.write(ctx); err != nil {
		r.log.Info("the recorder could not be written", "error", err.Error())
	}
}

// write appends what was added to what is stored. What another writer has
// stored meanwhile is kept.
func (r *Recorder) write(ctx context.Context) error {
	r.mu.Lock()
	added := r.added
	r.added = nil
	select {
	case <-r.fresh:
	default:
	}
	r.mu.Unlock()
	if len(added) == 0 {
		return nil
	}
	err := r.store(ctx, added)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
		r.object = nil // somebody else has changed or deleted it
		err = r.store(ctx, added)
	}
	if err != nil {
		r.mu.Lock()
		r.added = joined(added, r.added)
		r.announce()
		r.mu.Unlock()
		return fmt.Errorf("writing ConfigMap %s: %w", r.key, err)
	}
	return nil
}

func (r *Recorder) store(ctx context.Context, added []Entry) error {
	if r.object == nil {
		if err := r.load(ctx); err != nil {
			return err
		}
		// A write whose answer was lost may have been made all the same.
		added = without(added, r.stored)
	}
	all := joined(r.stored, added)
	packed, err := pack(all)
	if err != nil {
		return err
	}
	object := r.object.DeepCopy()
	object.BinaryData = map[string][]byte{contentKey: packed}
	object.Data = map[string]string{
		"about":   "what happened last, for `capstan replay`",
		"entries": strconv.Itoa(len(all)),
		"newest":  all[len(all)-1].At.UTC().Format(time.RFC3339),
	}
	if object.ResourceVersion == "" {
		err = r.writer.Create(ctx, object)
	} else {
		err = r.writer.Update(ctx, object)
	}
	if err != nil {
		return err
	}
	object.BinaryData = nil // the entries are held already
	r.object, r.stored = object, all
	return nil
}

// load reads what is stored. What cannot be read is not kept: a log that is
// half broken tells stories.
func (r *Recorder) load(ctx context.Context) error {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: r.key.Namespace, Name: r.key.Name}}
	err := r.live.Get(ctx, r.key, object)
	if apierrors.IsNotFound(err) {
		object = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: r.key.Namespace, Name: r.key.Name}}
	} else if err != nil {
		return err
	}
	r.stored = nil
	if packed, there := object.BinaryData[contentKey]; there {
		if r.stored, err = unpack(packed); err != nil {
			r.log.Info("what was recorded before cannot be read, starting anew", "error", err.Error())
		}
	}
	object.BinaryData = nil
	r.object = object
	return nil
}
