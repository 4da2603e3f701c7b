package inputs

import (
	"context"
	"fmt"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

// ResolveInputs has the Cluster own the templates. That inputs are not whole or not valid is no error: it is told by the facts, and
// they are looked at again.
func (s *Seen) ResolveInputs(ctx context.Context) (machine.Result, error) {
	if s.unread != nil {
		return machine.Result{}, s.unread
	}
	if len(s.facts.Inputs.Problems) > 0 {
		return machine.Result{LookAgain: again}, nil
	}
	return machine.Result{LookAgain: again}, s.ownTemplates(ctx)
}

// FreezeInputs reads the inputs once more from the API server itself, has the Cluster own the templates, and writes the digest as a
// mark.
func (s *Seen) FreezeInputs(ctx context.Context) (machine.Result, error) {
	if s.unread != nil {
		return machine.Result{}, s.unread
	}
	in, problems, err := s.documents(ctx)
	if err != nil {
		return machine.Result{}, err
	}
	if len(problems) > 0 || in == nil {
		return machine.Result{}, fmt.Errorf("freezing the inputs: they have changed just now and are not valid any more")
	}
	digest, err := in.Digest()
	if err != nil {
		return machine.Result{}, err
	}
	if digest != s.facts.Inputs.Digest {
		return machine.Result{}, fmt.Errorf("freezing the inputs: they have changed just now, and are read again")
	}
	if err := s.ownTemplates(ctx); err != nil {
		return machine.Result{}, err
	}
	if _, err := s.marking().By(s.look.Plane).Advance(ctx, guards.Marks{Inputs: digest}); err != nil {
		return machine.Result{}, err
	}
	return machine.Result{Did: "froze the inputs of digest " + digest[:12]}, nil
}

// marking writes the marks of the object.
func (s *Seen) marking() phases.Marking {
	return phases.Marking{Client: s.r.client, Live: s.r.live, Key: s.key(), UID: string(s.look.Plane.UID)}
}
