package phasestest

import (
	"context"
	"maps"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capstan-capi/capstan/machine/machinetest"
)

// Verb is what a write asks for.
type Verb string

// The verbs.
const (
	Create Verb = "create"
	Update Verb = "update"
	Patch  Verb = "patch"
	Delete Verb = "delete"
)

// Write is one that the API server has taken, and that was no dry run.
type Write struct {
	Verb Verb
	Kind string
	// Sub is the subresource, empty for none.
	Sub string
	// Object is the object as it was sent, for a deletion, and as it was answered otherwise.
	Object client.Object
	// Before is the object as the API server had it, nil where that had none.
	Before client.Object
}

// Word is a write's word where a machine has no other one: the kind, or that its status is written.
func (w Write) Word() string {
	if w.Sub != "" {
		return w.Sub + " of " + w.Kind
	}
	return w.Kind
}

// Counter counts writes. It may be used from several goroutines.
type Counter struct {
	// Words names a write as the actions of a machine do; nil for [Write.Word].
	Words func(Write) string

	mu      sync.Mutex
	written map[string]int
}

// Written is how often something was written, by its word. Each deletion counts as such, too.
func (c *Counter) Written() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.written)
}

// Count counts a write that no client makes.
func (c *Counter) Count(word string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.written == nil {
		c.written = map[string]int{}
	}
	c.written[word]++
}

func (c *Counter) took(w Write) {
	word := w.Word()
	if c.Words != nil {
		word = c.Words(w)
	}
	c.Count(word)
	if w.Verb == Delete {
		c.Count(machinetest.Deletion(word))
	}
}

// Watch is a client whose writes are counted.
func (c *Counter) Watch(of client.WithWatch) client.WithWatch {
	return interceptor.NewClient(of, interceptor.Funcs{
		Create: func(ctx context.Context, next client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			dry := (&client.CreateOptions{}).ApplyOptions(opts).DryRun
			return c.write(ctx, next, Create, "", o, dry, func() error { return next.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, next client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			dry := (&client.UpdateOptions{}).ApplyOptions(opts).DryRun
			return c.write(ctx, next, Update, "", o, dry, func() error { return next.Update(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, next client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
			dry := (&client.PatchOptions{}).ApplyOptions(opts).DryRun
			return c.write(ctx, next, Patch, "", o, dry, func() error { return next.Patch(ctx, o, patch, opts...) })
		},
		Delete: func(ctx context.Context, next client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			dry := (&client.DeleteOptions{}).ApplyOptions(opts).DryRun
			return c.write(ctx, next, Delete, "", o, dry, func() error { return next.Delete(ctx, o, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, next client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			dry := (&client.SubResourceUpdateOptions{}).ApplyOptions(opts).DryRun
			return c.write(ctx, next, Update, sub, o, dry, func() error { return next.SubResource(sub).Update(ctx, o, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, next client.Client, sub string, o client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			dry := (&client.SubResourcePatchOptions{}).ApplyOptions(opts).DryRun
			return c.write(ctx, next, Patch, sub, o, dry, func() error { return next.SubResource(sub).Patch(ctx, o, patch, opts...) })
		},
	})
}

func (c *Counter) write(ctx context.Context, of client.Client, verb Verb, sub string, o client.Object, dry []string, do func() error) error {
	kind, err := apiutil.GVKForObject(o, of.Scheme())
	if err != nil {
		return err
	}
	before, _ := o.DeepCopyObject().(client.Object)
	if err := of.Get(ctx, client.ObjectKeyFromObject(o), before); err != nil {
		before = nil
	}
	if err := do(); err != nil || len(dry) > 0 {
		return err
	}
	c.took(Write{Verb: verb, Kind: kind.Kind, Sub: sub, Object: o, Before: before})
	return nil
}
