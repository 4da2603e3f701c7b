package images

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/capstan-capi/capstan/message"
)

// How one image is obtained, attempt by attempt.

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
