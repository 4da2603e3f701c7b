package privatecapi

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// CreateCopies creates what the target lacks, owners first: each needs the UIDs of its owners' copies.
func (p *Pass) CreateCopies(ctx context.Context) (machine.Result, error) {
	if p.lacksLock() {
		return p.send(ctx, "")
	}
	if err := p.sides.strangers(); err != nil {
		return machine.Result{}, err
	}
	if err := p.sourceChanged(); err != nil { // what was not counted is not seen again if its kind cannot be listed on the way back
		return machine.Result{}, err
	}
	outside, result, err := p.copyOutside(ctx)
	if err != nil || result.LookAgain > 0 {
		return result, err
	}
	sent := outside
	for i := range p.sides.couples {
		w := p.sides.creation(p.sides.couples[i])
		if w == nil {
			continue
		}
		created, err := p.API.Write(ctx, *w)
		if err != nil {
			return p.stops(w, err)
		}
		p.sides.learn(i, created)
		sent++
	}
	return done(sent, "copying"), nil
}

// strangers is the error of objects of the target that are nobody's copy.
func (s *sides) strangers() error {
	for _, c := range s.couples {
		if c.target != nil && !c.isCopy() {
			return machine.Terminal(fmt.Errorf("%s is at the target already, and no copy of what is at the source: delete it if nothing needs it", nameOf(c.target)))
		}
	}
	if len(s.alone) > 0 {
		return machine.Terminal(errors.New(nameOf(s.alone[0]) + " is of a kind, or a version, that the other side does not have"))
	}
	return nil
}

// creation is the write of a copy, nil if it is there.
func (s *sides) creation(c couple) *Write {
	if c.source == nil || c.target != nil || !resolved(c.source, s.source, s.copied) {
		return nil
	}
	body := copyOf(c.source, s.source.to, s.copied, c.kinds.target.APIVersion(), c.kinds.target.Status)
	metadata, _ := body["metadata"].(map[string]any)
	setAnnotation(metadata, guards.MigratedByAnnotation, s.move)
	return &Write{Verb: Create, Kind: c.kinds.target, Namespace: c.source.GetNamespace(), Name: c.source.GetName(), Body: body}
}

// resolved says that the counterparts of all owners of an object are known that are on its side. Without them it is not written:
// the garbage collector would take it for one whose owner is gone.
func resolved(o *unstructured.Unstructured, side Side, counterparts map[types.UID]types.UID) bool {
	return !slices.ContainsFunc(ownersOn(owners(o), side), func(ref metav1.OwnerReference) bool {
		_, known := counterparts[ref.UID]
		return !known
	})
}

// learn takes in a copy that was created.
func (s *sides) learn(i int, created *unstructured.Unstructured) {
	c := &s.couples[i]
	c.target = created
	s.copied[c.source.GetUID()] = created.GetUID()
	s.uncopied[created.GetUID()] = c.source.GetUID()
}

// copyOutside copies what lies outside of namespaces and the target lacks, once: others may need it too, so it stays on both sides.
func (p *Pass) copyOutside(ctx context.Context) (int, machine.Result, error) {
	pairs, _ := pair(p.kinds, p.sides.source)
	sent := 0
	for _, kinds := range pairs {
		if kinds.source.Namespaced {
			continue
		}
		of, err := p.API.List(ctx, kinds.source, "", "")
		var to []*unstructured.Unstructured
		if err == nil && len(of) > 0 {
			to, err = p.API.List(ctx, kinds.target, "", "")
		}
		if isAway(err) {
			p.outage(p.Key, p.record.Since, err, nil)
			return sent, machine.Result{LookAgain: soon}, nil
		}
		if err != nil {
			return sent, machine.Result{}, fmt.Errorf("listing %s: %w", kinds.source.name(), err)
		}
		for _, c := range coupled(kinds, of, to) {
			w := p.sides.creation(c)
			if w == nil {
				continue
			}
			metadata, _ := w.Body["metadata"].(map[string]any)
			if annotations, is := metadata["annotations"].(map[string]any); is {
				delete(annotations, guards.MigratedFromAnnotation) // it is no part of this move
				delete(annotations, guards.MigratedByAnnotation)
			}
			if _, err := p.API.Write(ctx, *w); err != nil {
				result, err := p.stops(w, err)
				return sent, result, err
			}
			p.tell("CopiedOutside", c.name()+" lies in no namespace: it was copied, and stays on both sides")
			sent++
		}
	}
	return sent, machine.Result{}, nil
}
