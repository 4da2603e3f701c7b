package bootimage

import (
	"context"
	"errors"
	"time"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/golden"
	"github.com/capstan-capi/capstan/phases/records"
	"github.com/capstan-capi/capstan/phases/status"
)

// Standing is what a target adds to the sums of all.
type Standing = bootboard.Standing

// Store keeps the records of targets, and has each stand on the board as its last pass has left it.
type Store struct {
	*records.ConfigMaps[guards.Facts, *Pass]
	phases *Phases
	stand  func(Snapshot) Standing
}

// Store makes the store of targets. stand derives what a target adds to the sums.
func (p *Phases) Store(in *records.ConfigMaps[guards.Facts, *Pass], stand func(Snapshot) Standing) *Store {
	return &Store{ConfigMaps: in, phases: p, stand: stand}
}

// Load reads the record.
func (s *Store) Load(ctx context.Context, key machine.Key) (machine.Record, bool, error) {
	record, found, err := s.ConfigMaps.Load(ctx, key)
	if err == nil {
		s.phases.memory.of(key, func(r *remembered) { r.state = record.State })
	}
	return record, found, err
}

// Save writes the record if it is worth it, and lets go of attempts at what was opted out.
func (s *Store) Save(ctx context.Context, key machine.Key, shot Snapshot) (time.Duration, error) {
	pass, f := shot.Seen, shot.Facts
	if pass.Target == nil {
		return s.ConfigMaps.Save(ctx, key, shot)
	}
	if f.Enrolment.Known && !f.Enrolment.Is && len(pass.seen) > 0 {
		if err := errors.Join(s.StoreNote(ctx, key, pass.seen, nil), pass.forgetStub(ctx)); err != nil {
			return 0, err
		}
	}
	if err := pass.stood(ctx, guards.IsAsWanted.Answer(f).Truth); err != nil {
		return 0, err
	}
	if was := s.phases.memory.of(key, nil).state; shot.Record.State == HotLoop && was != HotLoop && s.phases.Contested != nil {
		s.phases.Contested()
	}
	standing := Stands(shot, s.stand)
	before, was := s.phases.Board.Of(key)
	if was && !f.Verdict.Known && standing.State == Skipped && before.State == Skipped {
		// Nothing is judged while boot images may not be moved: why it is skipped, and whether that counts, stays as it was.
		standing.Counts, standing.Skipped, standing.Why = before.Counts, before.Skipped, before.Why
	}
	s.phases.Board.Stand(key, standing)
	if twin, has := twinOf(key); has && before.Done != standing.Done {
		s.phases.Wake(twin) // whether it counts follows from that
	}
	return s.ConfigMaps.Save(ctx, key, shot)
}

// Stands is how a target stands on the board after a pass. stand derives what it adds to the sums.
func Stands(shot Snapshot, stand func(Snapshot) Standing) Standing {
	pass, standing := shot.Seen, stand(shot)
	standing.Kind, standing.Name, standing.State = pass.Target.Kind, pass.Target.Name, shot.Record.State
	pass.shares(shot.Facts, &standing)
	return standing
}

// stood notes whether the target has the wanted image. Of one that does not any more the attempts go that it stood long enough
// after: the next is the first of others.
func (p *Pass) stood(ctx context.Context, is machine.Truth) error {
	uid := hashed(p.UID)
	switch is {
	case machine.Yes:
		p.memory.stand(uid, true)
	case machine.No:
		if p.memory.stands(uid) && len(p.seen) > 0 && p.attempts.expired(p.Now()) {
			if err := p.Notes.StoreNote(ctx, p.Key, p.seen, nil); err != nil {
				return err
			}
		}
		p.memory.stand(uid, false)
	}
	return nil
}

// twinOf is the key of the MachineSet of the same name in the other API.
func twinOf(key machine.Key) (machine.Key, bool) {
	switch kind, name := kindOf(key); kind {
	case golden.MachineSets:
		return KeyOf(golden.CAPIMachineSets, name), true
	case golden.CAPIMachineSets:
		return KeyOf(golden.MachineSets, name), true
	}
	return "", false
}

// shares says what others who start from the same stub have to know.
func (p *Pass) shares(f guards.Facts, s *Standing) {
	s.Stub = p.stub.key.String()
	if p.original.Name != "" {
		s.Original = p.original.String()
	}
	if p.stub.key.Name == "" {
		s.Stub = ""
	}
	why, _, _ := guards.Excluded(f)
	s.Shares = why != guards.GoingAway && why != guards.NotAuthoritative && !f.Others.OfDeployment
	s.MayMove = guards.Enrolled.Answer(f).Truth == machine.Yes && guards.Touchable.Answer(f).Truth == machine.Yes &&
		(f.Verdict.Same || guards.MayBeWritten.Answer(f).Truth == machine.Yes && guards.AttemptsLeft.Answer(f).Truth == machine.Yes)
	s.Template, s.News = p.Target.templateName(), p.Verdict.News
	if f.Plan.Known && !f.Plan.None {
		s.Clone = p.Judged.CloneName
	}
}

// Forget lets go of a target that is gone. Attempts at it stay.
func (s *Store) Forget(ctx context.Context, key machine.Key) (time.Duration, error) {
	s.phases.memory.forget(key)
	s.phases.Board.Gone(key)
	return s.ConfigMaps.Forget(ctx, key)
}

// Line says in one line where a machine is.
func Line(r machine.Record) string { return status.Line(r) }
