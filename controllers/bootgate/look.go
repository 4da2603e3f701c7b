package bootgate

import (
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	phases "github.com/capstan-capi/capstan/phases/bootgate"
)

// Looking binds the machine to a cluster for who only looks: it cannot write.
func Looking(from client.Reader, o options.Options, now func() time.Time) (*phases.Phases, error) {
	bound, err := bind(o)
	if err != nil {
		return nil, err
	}
	bound.Client, bound.Apart, bound.Known, bound.Live, bound.Untyped = readOnly{from: from}, from, from, from, from
	bound.Now, bound.Steady = now, now
	return phases.New(bound), nil
}

// Kinds are those that a look reads.
func Kinds(o options.Options) house.Kinds { return slices.Concat(kinds(o), known(o)) }

// readOnly is a client for what reads by one that could write, and never comes to that: it has nothing to write with.
type readOnly struct {
	client.Client
	from client.Reader
}

// Get reads an object.
func (r readOnly) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	return r.from.Get(ctx, key, into, options...)
}

// List reads objects.
func (r readOnly) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	return r.from.List(ctx, into, options...)
}
