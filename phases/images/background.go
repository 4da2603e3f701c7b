package images

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/capstan-capi/capstan/message"
)

const (
	// firstRetry is how long a failed image waits for its second attempt, less up to a half by chance; it doubles with
	// each further failure.
	firstRetry = time.Second
	// lastRetry is the longest wait between two attempts for an image, and between two attempts to store one.
	lastRetry = time.Minute
	// parallelism is how many images are fetched at the same time.
	parallelism = 4
	// loggedMost is how much of a failure is logged, which may quote a registry.
	loggedMost = 2 << 10
)

// background runs one goroutine per wanted image: fetch, then wait for the next try until it is ready.
type background struct {
	// recall returns the image if it is on disk. It takes no slot, so that a cached image never waits for one that is
	// fetched. It is nil for a source that keeps nothing on disk.
	recall func(Ref) *Image
	// fetch completes an image of which only the content is there, and which may be nil.
	fetch func(ctx context.Context, ref Ref, had *Image) (*Image, error)
	// prove returns an image whose content is there if it may be used, and nil if it has to be fetched for that. It takes no
	// slot either. admits says at once whether an image may be used that was proven or fetched. Both are nil for a source
	// whose images always may.
	prove  func(context.Context, *Image) *Image
	admits func(*Image) bool
	// keep stores a fetched image. An image that cannot be stored is ready all the same, and storing is retried.
	keep   func(*Image) error
	notify func()
	clock  clock.Clock
	log    logr.Logger
	slots  chan struct{}
	queued atomic.Int64 // images that wait for a slot

	changed chan struct{}
	mu      sync.Mutex
	tasks   map[Ref]*task
}

type task struct {
	ref    Ref
	state  State
	had    *Image             // its content
	cancel context.CancelFunc // nil until its goroutine runs
	retry  chan struct{}
}

func newBackground(notify func(), clk clock.Clock, log logr.Logger) *background {
	if notify == nil {
		notify = func() {}
	}
	if clk == nil {
		clk = clock.RealClock{}
	}
	return &background{
		notify: notify, clock: clk, log: log,
		slots:   make(chan struct{}, parallelism),
		changed: make(chan struct{}, 1),
		tasks:   map[Ref]*task{},
	}
}

// Start is described at Source.
func (b *background) Start(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	for {
		b.launch(ctx, &running)
		select {
		case <-ctx.Done():
			return nil
		case <-b.changed:
		}
	}
}

func (b *background) launch(ctx context.Context, running *sync.WaitGroup) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.tasks {
		if t.cancel == nil {
			taskCtx, cancel := context.WithCancel(ctx)
			t.cancel = cancel
			running.Go(func() {
				defer cancel()
				b.run(taskCtx, t)
			})
		}
	}
}

// Recall is described at Source.
func (b *background) Recall(refs []Ref) {
	if b.recall == nil {
		return
	}
	var all sync.WaitGroup
	for _, ref := range refs {
		all.Go(func() {
			image := b.recall(ref)
			if image != nil && b.prove != nil {
				image = b.prove(context.Background(), image)
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			if image != nil && b.tasks[ref] == nil && (b.admits == nil || b.admits(image)) {
				b.tasks[ref] = &task{ref: ref, state: State{Phase: Ready, Image: image, Since: b.clock.Now()}, retry: make(chan struct{}, 1)}
			}
		})
	}
	all.Wait()
}

// Want is described at Source.
func (b *background) Want(refs []Ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	tasks := make(map[Ref]*task, len(refs))
	for _, ref := range refs {
		t, known := b.tasks[ref]
		if !known {
			t = &task{
				ref:   ref,
				state: State{Phase: Waiting, Since: b.clock.Now()},
				retry: make(chan struct{}, 1),
			}
		}
		tasks[ref] = t
	}
	for ref, t := range b.tasks {
		if tasks[ref] == nil && t.cancel != nil {
			t.cancel()
		}
	}
	b.tasks = tasks
	b.look()
}

// look has new tasks launched.
func (b *background) look() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// State is described at Source.
func (b *background) State(ref Ref) State {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.tasks[ref]; t != nil {
		return t.state
	}
	return State{}
}

// Retry is described at Source.
func (b *background) Retry() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.tasks {
		if t.state.Phase != Ready {
			select {
			case t.retry <- struct{}{}:
			default:
			}
		}
	}
}

// reconsider takes the images back that may not be used any more. What is there of them is not fetched again.
func (b *background) reconsider() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ref, t := range b.tasks {
		image := t.state.Image
		if image == nil || b.admits(image) {
			continue
		}
		if t.cancel != nil {
			t.cancel()
		}
		b.tasks[ref] = &task{ref: ref, had: image, state: State{Phase: Waiting, Since: b.clock.Now()}, retry: make(chan struct{}, 1)}
	}
	b.look()
}

func (b *background) run(ctx context.Context, t *task) {
	had := t.had
	if had == nil {
		had = b.State(t.ref).Image
	}
	if had == nil && b.recall != nil {
		had = b.recall(t.ref)
	}
	for ctx.Err() == nil {
		image := had
		if had != nil && b.prove != nil {
			image = b.prove(ctx, had)
		}
		if image == nil {
			image = b.obtain(ctx, t, had)
		}
		if image != nil && b.ready(ctx, t, image) {
			return
		}
		had = image
	}
}

// obtain fetches an image until it is there; nil if the context ends before.
func (b *background) obtain(ctx context.Context, t *task, had *Image) *Image {
	for failures := 1; ; failures++ {
		image, err := b.attempt(ctx, t, had)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			return image
		}
		delay := backoff(failures, rand.Float64())
		if err.Terminal() {
			delay = 0
		}
		// The timer is set before the failure is published: whoever sees the failure may rely on the timer.
		again, stop := b.after(delay)
		b.failed(t, err, delay)
		select {
		case <-ctx.Done():
		case <-again:
		case <-t.retry:
			failures = 0 // their cause may be gone
		}
		stop()
		if ctx.Err() != nil {
			return nil
		}
	}
}

func (b *background) attempt(ctx context.Context, t *task, had *Image) (*Image, *Error) {
	b.queued.Add(1)
	select {
	case <-ctx.Done():
		b.queued.Add(-1)
		return nil, nil
	case b.slots <- struct{}{}:
		b.queued.Add(-1)
	}
	defer func() { <-b.slots }()
	select {
	case <-t.retry: // asked for before this attempt, so answered by it
	default:
	}
	b.publish(t, func(s *State) {
		s.Phase, s.Since = Fetching, b.clock.Now()
		s.attempts++
	})
	if _, err := ParseRef(string(t.ref)); err != nil {
		return nil, about("", err)
	}
	image, err := b.fetch(ctx, t.ref, had)
	if err != nil {
		return nil, about(t.ref, err)
	}
	return image, nil
}

// crowded says whether an image waits for a slot.
func (b *background) crowded() bool { return b.queued.Load() > 0 }

func (b *background) failed(t *task, err *Error, delay time.Duration) {
	now := b.clock.Now()
	if last := b.State(t.ref); last.Err == nil || last.Err.Error() != err.Error() {
		b.log.Info("provider image failed", "image", t.ref, "kind", err.Kind, "error", message.Shorten(err.Error(), loggedMost), "attempts", last.attempts, "retryIn", delay)
	}
	b.publish(t, func(s *State) {
		s.Phase, s.Since, s.Err = Failed, now, err
		s.NextTry = time.Time{}
		if delay > 0 {
			s.NextTry = now.Add(delay)
		}
	})
}

// ready stores the image before it publishes it: once an image is Ready, a restart finds it on disk, or Warning says
// why not. It returns false for an image that may not be used as things stand since it was fetched or proven.
func (b *background) ready(ctx context.Context, t *task, image *Image) bool {
	stored := b.store(image)
	again, stop := b.after(storeRetry(stored))
	admitted := b.publishReady(t, image)
	if !admitted {
		stop()
		return false
	}
	b.log.Info("provider image ready", "image", t.ref, "profiles", len(image.Profiles), "attempts", b.State(t.ref).attempts, "stored", stored)
	for !stored {
		select {
		case <-ctx.Done():
			stop()
			return true
		case <-again:
			stored = b.store(image)
			again, stop = b.after(storeRetry(stored))
			b.notify()
		}
	}
	return true
}

func (b *background) publishReady(t *task, image *Image) (admitted bool) {
	b.publish(t, func(s *State) {
		if admitted = b.admits == nil || b.admits(image); admitted {
			*s = State{Phase: Ready, Image: image, Since: b.clock.Now(), attempts: s.attempts}
		}
	})
	return admitted
}

func storeRetry(stored bool) time.Duration {
	if stored {
		return 0
	}
	return lastRetry
}

func (b *background) store(image *Image) bool {
	return b.keep == nil || b.keep(image) == nil
}

// after returns a channel that fires after the delay, and never for a delay of zero.
func (b *background) after(delay time.Duration) (<-chan time.Time, func()) {
	if delay == 0 {
		return nil, func() {}
	}
	timer := b.clock.NewTimer(delay)
	return timer.C(), func() { timer.Stop() }
}

func (b *background) publish(t *task, change func(*State)) {
	b.mu.Lock()
	wanted := b.tasks[t.ref] == t
	change(&t.state)
	b.mu.Unlock()
	if wanted {
		b.notify()
	}
}

// backoff doubles from firstRetry to lastRetry. jitter, in [0,1), shortens it by up to a half, so that operators that
// lost the same registry do not all come back to it at the same moment.
func backoff(failures int, jitter float64) time.Duration {
	nominal := min(firstRetry<<min(failures-1, 16), lastRetry)
	return nominal - time.Duration(jitter*float64(nominal/2))
}
