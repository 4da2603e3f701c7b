package bootimage

import (
	"context"
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

// Save writes the record if it is worth it.
func (s *Store) Save(ctx context.Context, key machine.Key, shot Snapshot) (time.Duration, error) {
	pass, f := shot.Seen, shot.Facts
	if pass.Target == nil {
		return s.ConfigMaps.Save(ctx, key, shot)
	}
	pass.stood(guards.IsAsWanted.Answer(f).Truth)
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
	if before.Stub != standing.Stub || before.Original != standing.Original {
		s.phases.left(before)
	}
	if before.Done != standing.Done {
		if twin, is := s.phases.Twin(ctx, key); is {
			s.phases.Wake(twin) // whether it counts follows from that
		}
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

// stood notes whether the target has the wanted image, for itself and for the one that was given it last under its name. Of one that
// does not any more, and stood long enough after the last attempt, it stays noted until the next: that is the first of others.
func (p *Pass) stood(is machine.Truth) {
	p.memory.has(p.Key, hashed(p.UID), p.attempts.UID)
	for _, uid := range []string{hashed(p.UID), p.attempts.UID} {
		switch {
		case uid == "":
		case is == machine.Yes:
			p.memory.stand(uid, true)
		case is == machine.No && !p.attempts.expired(p.Now()):
			p.memory.stand(uid, false)
		}
	}
}

// SkipsCounted is 1 for a target that is Skipped and expected to move, as it stands after the pass.
func (p *Pass) SkipsCounted() int {
	if s, is := p.Board.Of(p.Key); is && s.State == Skipped && s.Skipped {
		return 1
	}
	return 0
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

// Twin is the key of the MachineSet of the same name in the other API, if that is a target, or may be: it cannot be looked at always.
func (p *Phases) Twin(ctx context.Context, key machine.Key) (twin machine.Key, is bool) {
	twin, has := twinOf(key)
	if kind, _ := kindOf(twin); !has || !p.looksAt(kind) {
		return "", false
	}
	exists, err := p.Exists(ctx, twin)
	return twin, exists || err != nil
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

// Forget lets go of a target that is gone. Attempts at it stay for a day, so that it cannot be made anew for more of them.
func (s *Store) Forget(ctx context.Context, key machine.Key) (time.Duration, error) {
	s.phases.letGo(key)
	if err := s.phases.forgetGone(ctx, key); err != nil {
		return 0, err
	}
	return s.ConfigMaps.Forget(ctx, key)
}

// letGo forgets what the process remembers of a target that is gone.
func (p *Phases) letGo(key machine.Key) {
	before, _ := p.Board.Of(key)
	p.memory.forget(key)
	p.Board.Gone(key)
	p.left(before)
}

// left forgets what was read of the stubs of a target as it stood before, if nothing starts from them any more.
func (p *Phases) left(before Standing) {
	for _, secret := range []string{before.Stub, before.Original} {
		if secret != "" && !p.Board.IsStub(secret) {
			p.stubs.forget(secret)
			p.memory.stand(hashed(ofStubs+secret), false)
		}
	}
}

// Line says in one line where a machine is.
func Line(r machine.Record) string { return status.Line(r) }
