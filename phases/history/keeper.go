package history

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The ConfigMap that a history lies in, and the key of it.
const (
	ConfigMap = "capstan-history"
	Key       = "history.json"
)

// The times of writing by itself.
const (
	gather     = time.Second
	writeEvery = 10 * time.Second
	lastWrite  = 3 * time.Second
)

// Keeper keeps a history in a ConfigMap. A nil one knows nothing and keeps nothing.
type Keeper struct {
	// live must read from the API server itself: a cache may not know the ConfigMap.
	live   client.Reader
	writer client.Writer
	key    client.ObjectKey
	clock  clock.WithTicker
	log    logr.Logger
	// again asks for another pass once the history was read.
	again func()
	// fresh holds a token while there is something to write, and shown one once a watch has shown what there is.
	fresh, shown chan struct{}

	writing chan struct{} // holds a token while it is read or stored, and before mu is held
	mu      sync.Mutex
	// known is the history once it was read, dirty that it has more than what is stored; object is the ConfigMap as last seen.
	known  History
	read   bool
	dirty  bool
	object *corev1.ConfigMap
}

// New makes a keeper of the ConfigMap in a namespace. It sends no request before it is asked, or runs; again is called once what
// is stored was read by running.
func New(live client.Reader, writer client.Writer, namespace string, again func(), clock clock.WithTicker, log logr.Logger) *Keeper {
	return &Keeper{
		live: live, writer: writer, key: client.ObjectKey{Namespace: namespace, Name: ConfigMap}, again: again, clock: clock, log: log,
		fresh: make(chan struct{}, 1), shown: make(chan struct{}, 1), writing: make(chan struct{}, 1),
	}
}

// Load reads what is stored, once in a process, unless a watch has shown it.
func (k *Keeper) Load(ctx context.Context) error {
	if k == nil {
		return nil
	}
	return k.takeUp(ctx, k.stored)
}

// Shown is what a watch shows of the ConfigMap, nil where there is none. In a process that has not read what is stored it is taken for
// that; later it says no more than whether there is one, which is written again if there is anything to write.
func (k *Keeper) Shown(ctx context.Context, object *corev1.ConfigMap) {
	if k == nil {
		return
	}
	err := k.takeUp(ctx, func(context.Context) (History, *corev1.ConfigMap, error) {
		if object == nil {
			return k.none()
		}
		return k.in(object.DeepCopy())
	})
	if err != nil {
		return // the context has ended
	}
	select {
	case k.shown <- struct{}{}:
	default:
	}
	if object == nil {
		k.gone()
	}
}

// takeUp has what is stored, once in a process.
func (k *Keeper) takeUp(ctx context.Context, from func(context.Context) (History, *corev1.ConfigMap, error)) error {
	if _, read := k.Known(); read {
		return nil // whoever stores it meanwhile
	}
	if err := k.begin(ctx); err != nil {
		return err
	}
	defer k.end()
	if _, read := k.Known(); read {
		return nil
	}
	stored, object, err := from(ctx)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known, k.object, k.read = stored, object, true
	return nil
}

// begin waits until nobody else reads or stores.
func (k *Keeper) begin(ctx context.Context) error {
	select {
	case k.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for another write of ConfigMap %s: %w", k.key, ctx.Err())
	}
}

func (k *Keeper) end() { <-k.writing }

// stored reads the ConfigMap.
func (k *Keeper) stored(ctx context.Context) (History, *corev1.ConfigMap, error) {
	object := &corev1.ConfigMap{}
	err := k.live.Get(ctx, k.key, object)
	switch {
	case apierrors.IsNotFound(err):
		return k.none()
	case err != nil:
		return History{}, nil, fmt.Errorf("reading ConfigMap %s: %w", k.key, err)
	}
	return k.in(object)
}

// none is the history where there is no ConfigMap.
func (k *Keeper) none() (History, *corev1.ConfigMap, error) {
	return History{}, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: k.key.Namespace, Name: k.key.Name}}, nil
}

// in is the history in a ConfigMap. One that cannot be read is begun anew, as one that is not there.
func (k *Keeper) in(object *corev1.ConfigMap) (History, *corev1.ConfigMap, error) {
	h, err := Read([]byte(object.Data[Key]))
	if err != nil {
		k.log.Info("the history of revisions cannot be read, starting anew", "error", err.Error())
	}
	object.Data = nil // it is held already
	return h, object, nil
}

// Known is what is remembered now, false while it was not read.
func (k *Keeper) Known() (History, bool) {
	if k == nil {
		return History{}, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known.clone(), k.read
}

// Note changes what is remembered, which is written soon. It does no I/O; what comes before the history was read is not noted.
func (k *Keeper) Note(change func(*History)) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.read {
		return
	}
	before, next := k.known, k.known.clone()
	change(&next)
	if same(before, next) {
		return
	}
	if next.Began.IsZero() {
		next.Began = k.clock.Now().UTC().Truncate(time.Second)
	}
	k.known = next
	k.announce()
}

// gone has the ConfigMap written again if there is anything to write.
func (k *Keeper) gone() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.known.Began.IsZero() {
		k.announce()
	}
}

// announce says that there is something to write. It is called with the lock held.
func (k *Keeper) announce() {
	k.dirty = true
	select {
	case k.fresh <- struct{}{}:
	default:
	}
}

func same(a, b History) bool {
	before, err := json.Marshal(a)
	after, errToo := json.Marshal(b)
	return err == nil && errToo == nil && slices.Equal(before, after)
}

// Count notes a change that was made to an object for a revision, by its name. It is called for every one of hundreds.
func (k *Keeper) Count(revision, action string) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.read && k.known.count(revision, action) {
		k.announce()
	}
}

// readUntil reads what is stored, as often as it takes: nothing waits for it. It leaves a watch the time to show it.
func (k *Keeper) readUntil(ctx context.Context) {
	if _, read := k.Known(); !read {
		select {
		case <-ctx.Done():
			return
		case <-k.shown:
		case <-k.clock.After(writeEvery):
		}
	}
	for err := k.Load(ctx); err != nil; err = k.Load(ctx) {
		k.log.Info("the history of revisions could not be read, trying again", "error", err.Error())
		select {
		case <-ctx.Done():
			return
		case <-k.clock.After(writeEvery):
		}
	}
	k.again()
}

// Run reads what is stored, and writes what was noted until ctx ends, and once more then. It never returns an error: what cannot
// be written is tried again.
func (k *Keeper) Run(ctx context.Context) error {
	if k == nil {
		return nil
	}
	k.readUntil(ctx)
	// A write under way when ctx ends is finished.
	writing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lastWrite, cancel) })
	defer stop()
	var next time.Time
	for {
		select {
		case <-ctx.Done():
			k.try(writing)
			return nil
		case <-k.fresh:
		}
		select {
		case <-ctx.Done():
			k.try(writing)
			return nil
		case <-k.clock.After(max(gather, next.Sub(k.clock.Now()))):
		}
		next = k.clock.Now().Add(writeEvery)
		k.try(writing)
	}
}

func (k *Keeper) try(ctx context.Context) {
	if err := k.Flush(ctx); err != nil {
		k.log.Info("the history of revisions could not be written, trying again", "error", err.Error())
		select {
		case k.fresh <- struct{}{}:
		default:
		}
	}
}

// Flush writes what was noted, if there is anything. What is noted meanwhile is written later.
func (k *Keeper) Flush(ctx context.Context) error {
	if k == nil {
		return nil
	}
	if err := k.begin(ctx); err != nil {
		return err
	}
	defer k.end()
	k.mu.Lock()
	h, object, dirty := k.known.clone(), k.object, k.dirty
	k.dirty = false
	k.mu.Unlock()
	if !dirty {
		return nil
	}
	err := k.store(ctx, h, object)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
		err = k.storeAgain(ctx)
	}
	if err != nil {
		k.mu.Lock()
		k.dirty = true
		k.mu.Unlock()
		return fmt.Errorf("writing ConfigMap %s: %w", k.key, err)
	}
	return nil
}

// storeAgain stores what is known after somebody else has changed or deleted the ConfigMap, such as an operator that had the Lease
// before, or who has put back a copy. Of a revision that both have, this process knows more; of what it does not know, see merge.
func (k *Keeper) storeAgain(ctx context.Context) error {
	stored, object, err := k.stored(ctx)
	if err != nil {
		return err
	}
	k.log.Info("the history of revisions was changed or deleted by somebody else, and is written again", "configMap", k.key.String())
	k.mu.Lock()
	k.known.merge(stored)
	h := k.known.clone()
	k.mu.Unlock()
	return k.store(ctx, h, object)
}

func (k *Keeper) store(ctx context.Context, h History, object *corev1.ConfigMap) error {
	text, fits, err := encode(h)
	if err != nil {
		return err
	}
	object = object.DeepCopy()
	object.Data = map[string]string{Key: string(text)}
	if object.ResourceVersion == "" {
		err = k.writer.Create(ctx, object)
	} else {
		err = k.writer.Update(ctx, object)
	}
	if err != nil {
		return err
	}
	object.Data = nil
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.object = object; !k.dirty {
		k.known = fits
	}
	return nil
}
