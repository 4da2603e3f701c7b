package clusterapi

import (
	"context"
	"time"
)

// warmUpTimeout bounds what is done before the first pass, which waits for it.
const warmUpTimeout = 5 * time.Second

// WarmUp is what runs from the start of the process until the context ends,
// whoever holds the Lease: none of it writes.
func (p *Phases) WarmUp() []func(context.Context) error {
	return []func(context.Context) error{p.run, p.warmUp}
}

// warmUp does what the first pass would take longest for as soon as the caches of the manager show the inputs, while the others
// fill and the Lease is waited for: it reads the provider images that are on the disk, and renders. What it cannot do is left to the first
// pass.
func (p *Phases) warmUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, warmUpTimeout)
	defer cancel()
	p.passing.Lock()
	defer p.passing.Unlock()
	var w world
	err := p.filled(ctx, inputKinds()...)
	if err == nil {
		w, err = p.readWorld(ctx, p.Client)
	}
	if err != nil {
		p.Log.V(1).Info("Nothing was prepared for the first pass", "error", err.Error())
		return nil
	}
	p.Images.Recall(w.refs)
	p.makePlan(ctx, w)
	return nil
}
