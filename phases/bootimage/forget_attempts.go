package bootimage

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

// ForgetAttempts lets go of the attempts at what was opted out.
var ForgetAttempts = machine.Action[*Pass]{
	Name: "ForgetAttempts", Writes: []string{"ConfigMap"},
	Run: func(ctx context.Context, p *Pass) (machine.Result, error) { return p.forgetAttempts(ctx) },
	Doc: "removes the attempts at the target, and those at the stub that it starts from, from what is stored, if there are any.",
}

func (p *Pass) forgetAttempts(ctx context.Context) (machine.Result, error) {
	if e := p.facts.Enrolment; !e.Known || e.Is || len(p.seen) == 0 {
		return machine.Result{}, nil
	}
	if err := p.forget(ctx, p.Key, p.seen); err != nil {
		return machine.Result{}, err
	}
	p.seen, p.attempts = nil, attempts{}
	for _, secret := range []client.ObjectKey{p.stub.key, p.original} {
		if secret.Name == "" {
			continue
		}
		shared, err := p.attemptsAtStub(ctx, secret)
		if err != nil {
			return machine.Result{}, err
		}
		if err := p.forget(ctx, shared.key, shared.seen); err != nil {
			return machine.Result{}, err
		}
	}
	return machine.Result{Did: "forgot the attempts at " + p.facts.Object.String()}, nil
}

// forgetGone lets attempts go a day after the last at something that is gone: nobody changes it back. Of a kind that the API server
// does not have at the moment, nobody knows what is gone.
func (p *Phases) forgetGone(ctx context.Context, key machine.Key) error {
	if secret, is := stubOf(key); is {
		if err := p.Client.Get(ctx, secret, Secret()); !apierrors.IsNotFound(err) {
			return nil // it is there, or none of those that are looked at
		}
	} else if kind, _ := kindOf(key); !p.looksAt(kind) || !p.Served(kind) {
		return nil
	}
	note, err := p.Notes.Note(ctx, key)
	if err != nil || len(note) == 0 {
		return err
	}
	a := decodedAttempts(note)
	if p.memory.stand(a.UID, true); !a.expired(p.Now()) {
		return nil
	}
	return p.forget(ctx, key, note)
}

// forget removes a note that was seen.
func (p *Phases) forget(ctx context.Context, key machine.Key, seen json.RawMessage) error {
	if len(seen) == 0 {
		return nil
	}
	if err := p.Notes.StoreNote(ctx, key, seen, nil); err != nil {
		return fmt.Errorf("forgetting attempts: %w", err)
	}
	return nil
}
