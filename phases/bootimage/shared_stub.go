package bootimage

import (
	"context"
	"encoding/json"

	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/stub"
)

// sharedStub is what is stored of the attempts at the stub in one Secret, whichever targets they were for: without it, each of a
// hundred targets that start from it would have three.
type sharedStub struct {
	key      machine.Key
	seen     json.RawMessage
	attempts attempts
}

// sharedStubOf reads what is stored of the Secret that would be upgraded for the target.
func (p *Pass) sharedStubOf(ctx context.Context) error {
	secret := p.stub.key
	if p.original.Name != "" {
		secret = p.original
	}
	p.shared.key = stubKey(secret)
	note, err := p.Notes.Note(ctx, p.shared.key)
	p.shared.seen, p.shared.attempts = note, decodedAttempts(note)
	return err
}

// stubKey is what attempts at a stub are stored by; no target has such a key.
func stubKey(secret client.ObjectKey) machine.Key { return machine.Key("secrets/" + secret.String()) }

// madeOfStub is how many attempts at the stub count.
func (p *Pass) madeOfStub() int {
	return p.shared.attempts.at(stub.Converted.String(), p.Target.retry(), p.memory.stands(hashed(string(p.shared.key))), p.Now())
}

// countStub stores that the stub is being upgraded, before it is: once for each version of the Secret. As long as that is
// there nothing was written, whichever of the targets tries it again.
func (p *Pass) countStub(ctx context.Context, read *stubRead, version string) error {
	if p.Tries || read.counted == version && p.madeOfStub() > 0 {
		return nil
	}
	next := p.next(p.shared.attempts, stub.Converted.String(), string(p.shared.key), p.madeOfStub())
	note, err := p.store(ctx, p.shared.key, p.shared.seen, next)
	if err != nil {
		return err
	}
	p.shared.seen, p.shared.attempts, read.counted = note, next, version
	return nil
}

// forgetStub lets go of the attempts at the stub of a target that was opted out.
func (p *Pass) forgetStub(ctx context.Context) error {
	for _, secret := range []client.ObjectKey{p.stub.key, p.original} {
		if secret.Name == "" {
			continue
		}
		key := stubKey(secret)
		note, err := p.Notes.Note(ctx, key)
		if err == nil && len(note) > 0 {
			err = p.Notes.StoreNote(ctx, key, note, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sees has the attempts at a stub forgotten in time that is seen as it should be.
func (p *Pass) sees(ctx context.Context, f *guards.Facts) error {
	if !f.Stub.Known || p.stub.key.Name == "" {
		return nil
	}
	if !f.Stub.Old {
		p.memory.stand(hashed(string(stubKey(p.stub.key))), true)
		return nil
	}
	if err := p.sharedStubOf(ctx); err != nil {
		return err
	}
	f.Attempts.Made = max(f.Attempts.Made, p.madeOfStub())
	return nil
}
