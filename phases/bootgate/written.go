package bootgate

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/newest"
)

// written is an object as the API server has answered last, which a cache may show late.
type written[T client.Object] struct {
	object T
	at     time.Time
	is     bool
}

// keep remembers an answer.
func (w *written[T]) keep(answered T, now time.Time) { w.object, w.at, w.is = answered, now, true }

// newest reads an object from a cache, or takes what was written while the cache does not show that. Where the cache shows
// nothing, or goes on showing what is older, the API server itself is asked by asks; what the cache shows counts if that is nil.
func (w *written[T]) newest(ctx context.Context, p *Phases, cached, asks client.Reader, key client.ObjectKey, into, live T) (T, bool, error) {
	found, err := read(ctx, cached, key, into)
	if err != nil || !w.is {
		return into, found, err
	}
	age := p.Now().Sub(w.at)
	switch {
	case found && newest.WrittenFirst(w.object, into, age):
		return w.object, true, nil
	case asks == nil || found && !newest.Unsettled(w.object, into, age):
		w.is = false
		return into, found, nil
	}
	found, err = read(ctx, asks, key, live)
	if w.is = found; found {
		w.keep(live, p.Now())
	}
	return live, found, err
}
