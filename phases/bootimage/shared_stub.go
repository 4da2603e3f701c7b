package bootimage

import (
	"context"
	"encoding/json"
	"strings"

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

// upgradedStub is the Secret that would be upgraded for the target.
func (p *Pass) upgradedStub() client.ObjectKey {
	if p.original.Name != "" {
		return p.original
	}
	return p.stub.key
}

// attemptsAtStub reads what is stored of a Secret.
func (p *Phases) attemptsAtStub(ctx context.Context, secret client.ObjectKey) (sharedStub, error) {
	shared := sharedStub{key: stubKey(secret)}
	note, err := p.Notes.Note(ctx, shared.key)
	shared.seen, shared.attempts = note, decodedAttempts(note)
	return shared, err
}

// ofStubs begins what attempts at stubs are stored by.
const ofStubs = "secrets/"

// stubOf is the Secret of such a key.
func stubOf(key machine.Key) (client.ObjectKey, bool) {
	rest, is := strings.CutPrefix(string(key), ofStubs)
	namespace, name, _ := strings.Cut(rest, "/")
	return client.ObjectKey{Namespace: namespace, Name: name}, is
}

// stubKey is what attempts at a stub are stored by; no target has such a key.
func stubKey(secret client.ObjectKey) machine.Key { return machine.Key(ofStubs + secret.String()) }

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

// sees has the attempts at a stub forgotten in time that is seen as it should be.
func (p *Pass) sees(ctx context.Context, f *guards.Facts) error {
	if !f.Stub.Known || p.stub.key.Name == "" {
		return nil
	}
	if !f.Stub.Old {
		p.memory.stand(hashed(string(stubKey(p.stub.key))), true)
		return nil
	}
	var err error
	if p.shared, err = p.attemptsAtStub(ctx, p.upgradedStub()); err != nil {
		return err
	}
	if made := p.madeOfStub(); made > f.Attempts.Made {
		f.Attempts.Made, f.Attempts.RetriesUsed = made, p.shared.attempts.Retry.isFull()
	}
	return nil
}
