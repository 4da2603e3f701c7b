package records

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reads counts requests that read.
type reads struct {
	client.Reader
	gets, lists atomic.Int32
	unlisted    error
}

func (r *reads) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	r.gets.Add(1)
	return r.Reader.Get(ctx, key, into, options...)
}

func (r *reads) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	r.lists.Add(1)
	if r.unlisted != nil {
		return r.unlisted
	}
	return r.Reader.List(ctx, into, options...)
}

func TestConfigMaps_shards_are_read_by_one_list_at_first(t *testing.T) {
	const shards = 16
	c := newCluster(t)
	before := inConfigMaps(c, shards)
	for n := range 4 {
		pass(t, before, keyOf(n), shotOf("Ready", ""))
	}
	for name, row := range map[string]struct {
		unlisted    error
		lists, gets int32
	}{
		"listed":                {nil, 1, 0},
		"they cannot be listed": {errors.New("no"), 1, shards},
	} {
		live := &reads{Reader: c, unlisted: row.unlisted}
		o := optionsOf(c, shards)
		o.Live = live
		s := NewConfigMaps[int, int](o)
		keys, err := s.Keys(t.Context())
		if err != nil || len(keys) != 4 {
			t.Errorf("%s: the keys are %v, %v", name, keys, err)
		}
		for n := range 4 {
			if got := loaded(t, s, keyOf(n)); got != "Ready" {
				t.Errorf("%s: of %d there is %s", name, n, got)
			}
		}
		if lists, gets := live.lists.Load(), live.gets.Load(); lists != row.lists || gets != row.gets {
			t.Errorf("%s: %d lists and %d reads", name, lists, gets)
		}
		// What was listed is read by itself from then on, as after a write that somebody else came before.
		other := inConfigMaps(c, shards)
		pass(t, other, keyOf(0), shotOf("Ready", name))
		pass(t, s, keyOf(0), shotOf("Gone", name))
		if got := loaded(t, inConfigMaps(c, shards), keyOf(0)); got != "Gone "+name {
			t.Errorf("%s: stored is %s", name, got)
		}
		pass(t, inConfigMaps(c, shards), keyOf(0), shotOf("Ready", ""))
	}
}
