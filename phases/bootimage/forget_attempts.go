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
	Doc: "removes the attempts at the target from what is stored, if there are any; and those at the stub that it starts from, once nothing that is enrolled starts from it or from its copy, but for what has no say in whether it is upgraded.",
}

func (p *Pass) forgetAttempts(ctx context.Context) (machine.Result, error) {
	if e := p.facts.Enrolment; !e.Known || e.Is {
		return machine.Result{}, nil
	}
	var result machine.Result
	if len(p.seen) > 0 {
		if err := p.forget(ctx, p.Key, p.seen); err != nil {
			return machine.Result{}, err
		}
		p.seen, p.attempts = nil, attempts{}
		result.Did = "forgot the attempts at " + p.facts.Object.String()
	}
	for _, secret := range []client.ObjectKey{p.stub.key, p.original} {
		if secret.Name == "" {
			continue
		}
		if all, err := p.forgetStub(ctx, secret); err != nil {
			return machine.Result{}, err
		} else if !all {
			result.LookAgain = soon
		}
	}
	return result, nil
}

// forgetStub lets go of the attempts at a stub, unless something is still enrolled that has had them, too. It says that not all
// targets are known yet.
func (p *Pass) forgetStub(ctx context.Context, secret client.ObjectKey) (all bool, err error) {
	shared, err := p.attemptsAtStub(ctx, secret)
	if err != nil || len(shared.seen) == 0 {
		return true, err
	}
	if all, _ := p.Board.Complete(p.Verdict.News); !all {
		return false, nil
	}
	for _, key := range p.Board.StartFrom(secret.String()) {
		if enrolled, err := p.sharesEnrolled(ctx, key); enrolled || err != nil {
			return true, err
		}
	}
	return true, p.forget(ctx, shared.key, shared.seen)
}

// sharesEnrolled says of a target that has a say in whether its stub is upgraded that it is enrolled by now, whatever it was by its
// last pass; so is one of which nobody can tell.
func (p *Pass) sharesEnrolled(ctx context.Context, key machine.Key) (bool, error) {
	if standing, _ := p.Board.Of(key); !standing.Shares {
		return false, nil
	}
	other := &Pass{Phases: p.Phases, Key: key, Verdict: p.Verdict}
	var err error
	if other.Target, err = p.target(ctx, p.Client, key); err != nil || other.Target == nil {
		return false, err
	}
	enrolment, err := other.enrolment(ctx)
	return !enrolment.Known || enrolment.Is, err
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
	if p.memory.standGone(a.UID); !a.expired(p.Now()) {
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
