package machines

import (
	"context"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

// makeBootstrap makes the bootstrap Machine between two marks: that it is intended, and which one it is.
func (s *Seen) makeBootstrap(ctx context.Context, d *doing) error {
	if s.bootstrap == nil {
		if !s.facts.Reached().MayCreateBootstrap() {
			return nil
		}
		marks, err := s.marking().Advance(ctx, guards.Marks{Bootstrap: guards.Intended})
		if err != nil || !marks.Advance(s.facts.Noted).MayCreateBootstrap() {
			return err
		}
	}
	uid, err := s.make(ctx, s.wantedBootstrap(), s.bootstrap, s.mayCreateBootstrap, d)
	if err != nil || uid == "" {
		return err
	}
	if marked := s.facts.Marks.Bootstrap; marked != "" && marked != guards.Intended {
		return nil
	}
	_, err = s.marking().Advance(ctx, guards.Marks{Bootstrap: string(uid)})
	return err
}

// mayCreateBootstrap asks the marks as they are now: another process may have gone on.
func (s *Seen) mayCreateBootstrap(ctx context.Context) (bool, error) {
	marks, _, err := s.marking().Read(ctx)
	return err == nil && marks.Advance(s.facts.Noted).MayCreateBootstrap(), err
}

// RemoveBootstrap keeps the Machines, and deletes what is left of the bootstrap unless it is to stay: its Machine, with which
// Cluster API has infrastructure machine and config go, then what was half made, and its payload. Hooks hold it.
func (s *Seen) RemoveBootstrap(ctx context.Context) (machine.Result, error) {
	if s.look.Plane == nil {
		return machine.Result{}, nil
	}
	d := &doing{}
	d.meet(s.Hold(ctx))
	s.keep(ctx, d)
	d.meet(s.removeBootstrap(ctx, d))
	return d.result()
}

func (s *Seen) removeBootstrap(ctx context.Context, d *doing) error {
	reached := s.facts.Reached()
	if reached.Finished && reached != s.facts.Marks {
		// Somebody has taken marks off that only the status has kept, and the status is a cache.
		if _, err := s.marking().Advance(ctx, reached); err != nil {
			return err
		}
	}
	if !reached.Finished || s.facts.Object.Retain || len(s.facts.Held()) > 0 || s.facts.Bootstrap.Removal.IsDone() {
		return nil
	}
	if s.bootstrap != nil && !s.bootstrap.DeletionTimestamp.IsZero() {
		return nil // the end of it is watched
	}
	// Advancing reads the marks live.
	if marks, err := s.marking().Advance(ctx, reached); err != nil || !marks.MayDeleteBootstrap() {
		return err
	}
	if s.bootstrap != nil {
		return s.remove(ctx, metaOf(machines, s.bootstrap.ObjectMeta), d)
	}
	name := phases.BootstrapName(s.look.Plane.Name)
	if s.configs[name] != nil {
		if gone, err := s.removeHalfMade(ctx, name, d); err != nil || !gone {
			d.waits = true
			return err
		}
	}
	payload := PayloadName(s.look.Plane.Name, v1alpha1.BootstrapRole)
	for i := range s.secrets {
		if s.secrets[i].Name == payload {
			return s.remove(ctx, &s.secrets[i], d)
		}
	}
	return nil
}
