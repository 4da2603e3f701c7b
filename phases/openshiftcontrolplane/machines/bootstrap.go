package machines

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

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
		marks, err := s.attemptMarks().Advance(ctx, guards.Marks{Bootstrap: guards.Intended})
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
	_, err = s.attemptMarks().Advance(ctx, guards.Marks{Bootstrap: string(uid)})
	return err
}

// attemptMarks writes and reads the marks of the attempt that the pass has seen.
func (s *Seen) attemptMarks() phases.Marking { return s.marking().Of(s.facts.AttemptID()) }

// mayCreateBootstrap asks the marks as they are now: another process may have gone on, or taken back that the Machine is intended to make
// another payload.
func (s *Seen) mayCreateBootstrap(ctx context.Context) (bool, error) {
	marks, err := s.attemptMarks().Now(ctx)
	return err == nil && marks.Bootstrap == guards.Intended && marks.Advance(s.facts.Noted).MayCreateBootstrap(), err
}

// refusesEnded is why no bootstrap Machine may be made any more with the payload that there is, nil where one may, or is there.
func (s *Seen) refusesEnded() error {
	ends := s.facts.Payload.NotAfter
	if s.bootstrap != nil || ends.IsZero() || s.maker.now().Before(ends) || !s.facts.Reached().MayCreateBootstrap() {
		return nil
	}
	err := fmt.Errorf("making Machine %s: the payload was valid until %s", phases.BootstrapName(s.look.Plane.Name), ends.UTC().Format(time.RFC3339))
	if len(s.masters) == 0 {
		return err // it is made anew
	}
	return machine.Terminal(fmt.Errorf("%w, and other Machines were made with it, so that no other one may be made: annotation %s with a new value that begins with %s clears them away",
		err, v1alpha1.RetryAnnotation, v1alpha1.FromScratch))
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
	s.removeBootstrap(ctx, d)
	return d.result()
}

// removeBootstrap goes on with the removal of the bootstrap. Where that is not what the state is for, it holds nothing up: what it meets
// is told of the bootstrap, and it is tried again in a while.
func (s *Seen) removeBootstrap(ctx context.Context, d *doing) {
	if err := s.keepMarks(ctx); err != nil {
		d.meet(err)
		return
	}
	err := s.removeLeft(ctx, d)
	switch s.maker.problems.note(client.ObjectKeyFromObject(s.look.Plane), s.look.Plane.UID, err); {
	case err == nil:
	case s.facts.Then.State == guards.RemovingBootstrap:
		d.meet(err)
	default:
		d.leaves = true
	}
}

// keepMarks writes marks back that somebody has taken off a finished cluster: the status has kept them, and is a cache.
func (s *Seen) keepMarks(ctx context.Context) error {
	reached := s.facts.Reached()
	if !reached.Finished || reached == s.facts.Marks {
		return nil
	}
	_, err := s.marking().Advance(ctx, reached)
	return err
}

// removeLeft takes the next step of the removal.
func (s *Seen) removeLeft(ctx context.Context, d *doing) error {
	reached := s.facts.Reached()
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
		if gone, err := s.removeHalfMade(ctx, name, anyway, d); err != nil || !gone {
			d.waits = d.waits || err == nil
			return err
		}
	}
	payload := payloadName(s.look.Plane.Name, v1alpha1.BootstrapRole)
	for i := range s.secrets {
		if s.secrets[i].Name == payload {
			return s.remove(ctx, &s.secrets[i], d)
		}
	}
	return nil
}
