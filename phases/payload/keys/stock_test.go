package keys

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/cluster-api/util/secret"
)

// filled is a stock of so many clusters, a while after it was made.
func filled(t testing.TB, clusters int) (*Stock, *clocktesting.FakeClock) {
	t.Helper()
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	s := NewStock(clusters, clock, logr.Discard())
	clock.Step(quiet)
	for range clusters * len(kept) {
		if wait := s.next(); wait != 0 { // the clock stands still
			t.Fatalf("it waits for %s before it is full", wait)
		}
	}
	return s, clock
}

func TestStock_is_filled_once_nobody_has_asked_for_a_while(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	s := NewStock(1, clock, logr.Discard())
	if wait := s.next(); wait != quiet || s.Ahead() != 0 {
		t.Fatalf("just made, it waits for %s and has %d", wait, s.Ahead())
	}
	clock.Step(quiet / 2)
	must(t, s.Generate(nil))
	clock.Step(quiet / 2)
	if wait := s.next(); wait != quiet/2 || s.Ahead() != 0 {
		t.Fatalf("asked half a minute ago, it waits for %s and has %d", wait, s.Ahead())
	}
	clock.Step(quiet / 2)
	for range kept {
		s.next()
	}
	if s.Ahead() != 1 {
		t.Errorf("it has %d", s.Ahead())
	}
	for range 3 {
		if wait := s.next(); wait != quiet || len(s.pairs[secret.ClusterCA]) != 1 {
			t.Errorf("full, it waits for %s and has %d", wait, len(s.pairs[secret.ClusterCA]))
		}
	}
}

func TestStock_gives_what_it_has_and_makes_the_rest(t *testing.T) {
	s, _ := filled(t, 1)
	first, second := Authorities(), Authorities()
	must(t, s.Generate(first))
	if s.Ahead() != 0 {
		t.Errorf("%d are left", s.Ahead())
	}
	must(t, s.Generate(second))
	for _, all := range []secret.Certificates{first, second} {
		for _, one := range all {
			if one.KeyPair == nil || !one.Generated {
				t.Errorf("%s is %+v", one.Purpose, one.KeyPair)
			}
		}
		made, err := Complete(nil, all, names)
		must(t, err)
		_, err = Read(made, all, names)
		must(t, err)
	}
}

func TestStock_leaves_what_a_cluster_has(t *testing.T) {
	s, _ := filled(t, 1)
	all := Authorities()
	must(t, Generate(all))
	had := all.GetByPurpose(secret.EtcdCA).KeyPair
	must(t, s.Generate(all))
	if all.GetByPurpose(secret.EtcdCA).KeyPair != had || s.Ahead() != 1 {
		t.Errorf("another one, or one was taken: %d are left", s.Ahead())
	}
}

func TestStock_gives_no_pair_twice(t *testing.T) {
	const clusters = 3
	s, _ := filled(t, clusters)
	given := make(chan secret.Certificates, 2*clusters)
	var takers sync.WaitGroup
	for range cap(given) {
		takers.Go(func() {
			all := Authorities()
			if err := s.Generate(all); err != nil {
				t.Error(err)
			}
			given <- all
		})
	}
	takers.Wait()
	close(given)
	seen := map[string]bool{}
	for all := range given {
		for _, one := range all {
			if seen[string(one.KeyPair.Key)] {
				t.Errorf("the key of a %s is another cluster's, too", one.Purpose)
			}
			seen[string(one.KeyPair.Key)] = true
		}
	}
}

func TestStock_that_is_none_has_keys_made(t *testing.T) {
	for name, s := range map[string]*Stock{"nil": nil, "of no cluster": NewStock(0, clocktesting.NewFakeClock(time.Unix(0, 0)), logr.Discard())} {
		all := Authorities()
		if err := s.Generate(all); err != nil || all.GetByPurpose(secret.ClusterCA).KeyPair == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStock_ends_with_its_context(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	s := NewStock(1, clock, logr.Discard())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Start(ctx) }()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
