package records

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

// gathering is a store of 16 shards as a large family has it. Its clock is that of the bubble of a test.
func gathering(c *cluster) *ConfigMaps[int, int] {
	o := optionsOf(c, 16)
	o.Clock, o.Gather, o.Late = clock.RealClock{}, 50*time.Millisecond, 5*time.Second
	o.Entry, o.Transitions = 1<<10, 4
	o.Keep = func(r machine.Record) bool { return r.State != "Current" }
	o.Worth = func(note json.RawMessage) bool { return string(note) != `"expired"` }
	return NewConfigMaps[int, int](o)
}

func TestConfigMaps_a_thousand_notes_at_once_are_few_writes_and_each_is_stored_when_it_says_so(t *testing.T) {
	for side, most := range map[int]int{1000: 16, 256: 100} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t)
			c.slow = 20 * time.Millisecond
			s := gathering(c)
			keys := make(chan int)
			var passes sync.WaitGroup
			for range side {
				passes.Go(func() {
					for n := range keys {
						loaded(t, s, keyOf(n))
						began := time.Now()
						if err := s.StoreNote(t.Context(), keyOf(n), nil, fmt.Appendf(nil, "%d", n)); err != nil {
							t.Error(err)
						}
						if took := time.Since(began); took > 120*time.Millisecond {
							t.Errorf("it took %s", took)
						}
						if got := noteIn(t, c, s, keyOf(n)); got != fmt.Sprint(n) {
							t.Errorf("of %d is stored %q", n, got)
						}
					}
				})
			}
			for n := range 1000 {
				keys <- n
			}
			close(keys)
			passes.Wait()
			if c.writes > most {
				t.Errorf("%d side by side are %d writes", side, c.writes)
			}
		})
	}
}

func TestConfigMaps_notes_gather_as_long_as_more_are_on_their_way(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.slow = 20 * time.Millisecond
		s := gathering(c)
		store := func(n int) (took time.Duration) {
			began := time.Now()
			if err := s.StoreNote(t.Context(), keyOf(n), nil, fmt.Appendf(nil, "%d", n)); err != nil {
				t.Error(err)
			}
			return time.Since(began)
		}
		if took := store(5000); took > 80*time.Millisecond {
			t.Errorf("one alone took %s", took)
		}
		c.writes = 0
		keys := make(chan int)
		processor := make(chan struct{}, 1)
		var passes sync.WaitGroup
		for range 256 {
			passes.Go(func() {
				for n := range keys {
					processor <- struct{}{}
					<-time.After(3 * time.Millisecond) // the look at the target
					<-processor
					store(n)
				}
			})
		}
		for n := range 1000 {
			keys <- n
		}
		close(keys)
		passes.Wait()
		if c.writes > 80 {
			t.Errorf("a thousand in passes that take their time are %d writes", c.writes)
		}
		var others sync.WaitGroup
		for n := range 500 {
			others.Go(func() { store(1000 + n) })
			<-time.After(10 * time.Millisecond)
			if n == 250 && noteIn(t, c, s, keyOf(1000)) != "1000" {
				t.Error("nothing is stored as long as more come")
			}
		}
		others.Wait()
	})
}

func TestConfigMaps_notes_that_come_fast_are_written_soon_after_the_last(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		s := gathering(c)
		var passes sync.WaitGroup
		for n := range 300 {
			passes.Go(func() {
				if err := s.StoreNote(t.Context(), keyOf(n), nil, fmt.Appendf(nil, "%d", n)); err != nil {
					t.Error(err)
				}
			})
			<-time.After(time.Millisecond)
		}
		last := time.Now()
		passes.Wait()
		if took := time.Since(last); took > 25*time.Millisecond {
			t.Errorf("they are stored %s after the last", took)
		}
		if c.writes > 16 {
			t.Errorf("they are %d writes", c.writes)
		}
	})
}

// noteIn is the note of a key as the API server has it.
func noteIn(t *testing.T, c *cluster, s *ConfigMaps[int, int], key machine.Key) string {
	t.Helper()
	stored := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: only.Namespace, Name: s.nameOf(key)}, stored); err != nil {
		t.Error(err)
	}
	return string(unpack(stored.BinaryData[contentKey], func(of machine.Key) bool { return of == key }, maxEntry).all[key].Note)
}
