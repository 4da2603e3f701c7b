package keys

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/cluster-api/util/secret"
)

// empty is a stock of so many clusters that was just made, whose clocks stand still.
func empty(clusters int) (*Stock, *clocktesting.FakeClock) {
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	return NewStock(StockOptions{Clusters: clusters, Now: clock.Now, Clock: clock, Log: logr.Discard()}), clock
}

// filled is a stock of so many clusters, a while after it was made.
func filled(t testing.TB, clusters int) (*Stock, *clocktesting.FakeClock) {
	t.Helper()
	s, clock := empty(clusters)
	clock.Step(quiet)
	for range clusters * len(stocked) {
		if wait := s.next(); wait != 0 {
			t.Fatalf("it waits for %s before it is full", wait)
		}
	}
	return s, clock
}

func TestStock_is_filled_once_no_cluster_has_needed_keys_for_a_while(t *testing.T) {
	s, clock := empty(1)
	if wait := s.next(); wait != quiet || s.Ahead() != 0 {
		t.Fatalf("just made, it waits for %s and has %d", wait, s.Ahead())
	}
	clock.Step(quiet / 2)
	all := Authorities()
	must(t, s.Generate(all))
	clock.Step(quiet / 2)
	must(t, s.Generate(all)) // of which nothing is missing
	if wait := s.next(); wait != quiet/2 || s.Ahead() != 0 {
		t.Fatalf("half a minute later, it waits for %s and has %d", wait, s.Ahead())
	}
	clock.Step(quiet / 2)
	for range stocked {
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

// busy is a clock that goes on by itself: by a second where it is read, and at once where it is waited for.
type busy struct{ clocktesting.FakeClock }

func (b *busy) After(wait time.Duration) <-chan time.Time {
	b.Step(wait)
	over := make(chan time.Time, 1)
	over <- b.Now()
	return over
}

func (b *busy) Since(at time.Time) time.Duration {
	b.Step(time.Second)
	return b.FakeClock.Since(at)
}

func TestStock_takes_a_quarter_of_a_processor_at_most(t *testing.T) {
	clock := &busy{}
	s := NewStock(StockOptions{Clusters: 1, Now: clock.Now, Clock: clock, Log: logr.Discard()})
	clock.Step(quiet)
	if wait := s.next(); wait != 3*time.Second {
		t.Errorf("after a pair that took a second it waits for %s", wait)
	}
}

func TestStock_fills_itself_and_tells_once_that_it_is_full(t *testing.T) {
	var lines atomic.Int32
	told := make(chan struct{}, 1)
	clock := &busy{}
	s := NewStock(StockOptions{Clusters: 1, Now: clock.Now, Clock: clock, Log: funcr.New(func(string, string) {
		if lines.Add(1) == 1 {
			told <- struct{}{}
		}
	}, funcr.Options{})})
	clock.Step(quiet)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Start(ctx) }()
	<-told
	if s.Ahead() != 1 {
		t.Errorf("it has %d", s.Ahead())
	}
	cancel()
	if err := <-ended; err != nil || lines.Load() != 1 {
		t.Errorf("it was told %d times (%v)", lines.Load(), err)
	}
}

func TestStock_throws_away_what_another_clock_has_made_and_what_is_old(t *testing.T) {
	for name, step := range map[string]time.Duration{"the clock was set back": -time.Hour, "it is old": fresh + time.Second} {
		s, clock := filled(t, 1)
		had := s.pairs[secret.ClusterCA][0].KeyPair
		clock.SetTime(clock.Now().Add(step))
		all := Authorities()
		must(t, s.Generate(all))
		if given := all.GetByPurpose(secret.ClusterCA).KeyPair; given == nil || given == had || s.Ahead() != 0 {
			t.Errorf("%s: it was given, or kept", name)
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
	none, _ := empty(0)
	for name, s := range map[string]*Stock{"nil": nil, "of no cluster": none} {
		all := Authorities()
		if err := s.Generate(all); err != nil || all.GetByPurpose(secret.ClusterCA).KeyPair == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
