package privatecapi

import (
	"context"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// Remembering is a store that also has a look know the record that it is made for: what is looked at follows from the state.
func (p *Phases) Remembering(next machine.Store[guards.Facts, Works]) machine.Store[guards.Facts, Works] {
	return &remembering{next: next, phases: p}
}

type remembering struct {
	next   machine.Store[guards.Facts, Works]
	phases *Phases
}

func (s *remembering) Load(ctx context.Context, key machine.Key) (machine.Record, bool, error) {
	record, found, err := s.next.Load(ctx, key)
	if err == nil {
		s.phases.remember(key, record)
	}
	return record, found, err
}

func (s *remembering) Save(ctx context.Context, key machine.Key, shot Snapshot) (time.Duration, error) {
	return s.next.Save(ctx, key, shot)
}

// Forget drops what is remembered of a HostedCluster that is gone, and its record where the store keeps it apart.
func (s *remembering) Forget(ctx context.Context, key machine.Key) (time.Duration, error) {
	s.phases.memory.forget(key)
	if f, is := s.next.(interface {
		Forget(context.Context, machine.Key) (time.Duration, error)
	}); is {
		return f.Forget(ctx, key)
	}
	return 0, nil
}
