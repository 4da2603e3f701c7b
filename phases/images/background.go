package images

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
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
