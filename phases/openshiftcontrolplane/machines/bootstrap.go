package machines

import (
	"context"
	"errors"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

// makeBootstrap makes the bootstrap Machine between two marks: that it is intended, and which one it is.
func (s *Seen) makeBootstrap(ctx context.Context, did *[]string) error {
	w := s.wantedBootstrap()
	if s.bootstrap == nil {
		if !s.facts.Reached().MayCreateBootstrap() {
			return nil
		}
		marks, err := s.marking().Advance(ctx, guards.Marks{Bootstrap: guards.Intended})
		if err != nil || !marks.Advance(s.facts.Noted).MayCreateBootstrap() {
			return err
		}
	}
	if err := s.make(ctx, w, s.bootstrap, s.mayCreateBootstrap, did); err != nil || s.bootstrap == nil {
		return err
	}
	if s.facts.Marks.Bootstrap == string(s.bootstrap.UID) {
		return nil
	}
	_, err := s.marking().Advance(ctx, guards.Marks{Bootstrap: string(s.bootstrap.UID)})
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
	var did []string
	return done(did, errors.Join(s.keep(ctx, &did), s.removeBootstrap(ctx, &did)))
}

func (s *Seen) removeBootstrap(ctx context.Context, did *[]string) error {
	reached := s.facts.Reached()
	if !reached.Finished || s.facts.Object.Retain || len(s.facts.Held()) > 0 || s.facts.Bootstrap.Removal.IsDone() {
		return nil
	}
	// Advancing reads the marks live, and writes back those that only the status has kept.
	if marks, err := s.marking().Advance(ctx, reached); err != nil || !marks.MayDeleteBootstrap() {
		return err
	}
	if s.bootstrap != nil {
		return s.remove(ctx, metaOf(machines, s.bootstrap.ObjectMeta), did)
	}
	name := phases.BootstrapName(s.look.Plane.Name)
	if config := s.configs[name]; config != nil {
		gone, err := s.removeHalfMade(ctx, name, did)
		if err != nil || !gone {
			return err
		}
	}
	payload := PayloadName(s.look.Plane.Name, v1alpha1.BootstrapRole)
	for i := range s.secrets {
		if s.secrets[i].Name == payload {
			return s.remove(ctx, &s.secrets[i], did)
		}
	}
	return nil
}
