package house

import (
	"context"

	"github.com/go-logr/logr"

	"github.com/capstan-capi/capstan/machine"
)

// lists is a store that keeps records apart from their objects.
type lists interface {
	// Keys are those of all records that are stored.
	Keys(ctx context.Context) ([]machine.Key, error)
}

// stored is a source of a pass for every record that is stored, once at the start: a record whose object went while
// nobody was looking is of no watch, and that pass forgets it. If the records cannot be listed, they stay until the
// next start.
type stored struct {
	in  lists
	log logr.Logger
}

// Start is called by the controller with its queue, and waits for nothing.
func (s stored) Start(ctx context.Context, q queue) error {
	go func() {
		keys, err := s.in.Keys(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.Info("records of objects that are gone may stay", "error", machine.Shorten(err.Error(), machine.MaxMessage))
		}
		for _, key := range keys {
			q.Add(requestOf(key))
		}
	}()
	return nil
}
