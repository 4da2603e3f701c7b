package records

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

// minutes is a clock to which every moment is a minute after the one before.
type minutes struct {
	clock.RealClock
	passed atomic.Int64
}

func (m *minutes) Now() time.Time { return noon.Add(time.Duration(m.passed.Add(1)) * time.Minute) }

func optionsOf(c *cluster, shards uint32) Options {
	return Options{Live: c, Writer: c, Clock: &minutes{}, Namespace: "ops", Name: "capstan-tides", Shards: shards}
}

// inConfigMaps is a store that lets nothing wait.
func inConfigMaps(c *cluster, shards uint32) *ConfigMaps[int, int] {
	return NewConfigMaps[int, int](optionsOf(c, shards))
}

// clocked is a store with one shard, where records may be late by a second, and a clock.
func clocked(c *cluster) (s *ConfigMaps[int, int], clock *testclock.FakeClock) {
	clock = testclock.NewFakeClock(noon)
	o := optionsOf(c, 1)
	o.Clock, o.Late = clock, time.Second
	return NewConfigMaps[int, int](o), clock
}

// only is the ConfigMap of a store with one shard.
var only = client.ObjectKey{Namespace: "ops", Name: "capstan-tides-0"}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// after says how a save ended: at once, later, or with an error.
func after(again time.Duration, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case again > 0:
		return "in " + again.String()
	}
	return "done"
}

func keyOf(n int) machine.Key { return machine.Key(fmt.Sprintf("ns/%d", n)) }

func TestConfigMaps_records_wait_for_each_other(t *testing.T) {
	c := newCluster(t)
	s, clock := clocked(c)
	save := func(n int, reason, want string) {
		t.Helper()
		loaded(t, s, keyOf(n))
		if got := after(s.Save(t.Context(), keyOf(n), shotOf("Ready", reason))); got != want {
			t.Errorf("saving %d %q: %s, want %s", n, reason, got, want)
		}
	}
	for i := range 51 {
		save(i, "", "in 1s")
	}
	clock.Step(400 * time.Millisecond)
	save(0, "flaps", "in 600ms")
	save(0, "", "in 600ms")
	save(0, "flaps", "in 600ms")
	if got := loaded(t, s, keyOf(0)) + ", " + loaded(t, s, keyOf(50)); got != "Ready flaps, Ready" || c.writes != 0 {
		t.Errorf("while they wait there is %s, after %d writes", got, c.writes)
	}
	if got := loaded(t, inConfigMaps(c, 1), keyOf(50)); got != "none" {
		t.Errorf("what waits is stored: %s", got)
	}
	clock.Step(600 * time.Millisecond)
	for i := range 51 {
		save(50-i, map[bool]string{true: "flaps"}[i == 50], "done")
	}
	if c.writes != 1 {
		t.Errorf("51 records are %d writes", c.writes)
	}
	again := inConfigMaps(c, 1)
	for i := range 51 {
		if got := loaded(t, again, keyOf(i)); !strings.HasPrefix(got, "Ready") {
			t.Errorf("of %d there is %s", i, got)
		}
	}
	clock.Step(time.Hour)
	save(0, "before the clock was set back", "in 1s")
	clock.SetTime(noon)
	save(0, "after the clock was set back", "done")
}

func TestConfigMaps_a_record_that_is_saved_during_a_write_follows_it(t *testing.T) {
	c := newCluster(t)
	s, clock := clocked(c)
	pass(t, s, "ns/one", shotOf("Ready", ""))
	if got := after(s.Save(t.Context(), "ns/two", shotOf("Ready", "first"))); got != "in 1s" {
		t.Fatal(got)
	}
	clock.Step(time.Second)
	c.mu.Lock()
	c.hold = make(chan struct{})
	c.mu.Unlock()
	var saves sync.WaitGroup
	saves.Go(func() { pass(t, s, "ns/one", shotOf("Ready", "again")) })
	waitFor(t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.waiting == 1
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := after(s.Forget(ctx, "ns/two")); !strings.Contains(got, "waiting for ConfigMap ops/capstan-tides-0") {
		t.Errorf("forgotten by who may not wait %s", got)
	}
	if got := loaded(t, s, "ns/two"); got != "Ready first" {
		t.Errorf("then there is %s", got)
	}
	var again string
	saves.Go(func() { again = after(s.Forget(t.Context(), "ns/two")) })
	waitFor(t, func() bool { return loaded(t, s, "ns/two") == "none" })
	close(c.hold)
	saves.Wait()
	if again != "in 1s" {
		t.Errorf("forgotten %s, while its record was written", again)
	}
	clock.Step(time.Second)
	if got := after(s.Forget(t.Context(), "ns/two")); got != "done" {
		t.Errorf("then %s", got)
	}
	if got := loaded(t, inConfigMaps(c, 1), "ns/two"); got != "none" {
		t.Errorf("there is %s", got)
	}
}

func TestConfigMaps_while_writes_fail_nobody_is_told_to_wait(t *testing.T) {
	c := newCluster(t)
	s, clock := clocked(c)
	pass(t, s, "ns/one", shotOf("Ready", ""))
	clock.Step(time.Second)
	pass(t, s, "ns/one", shotOf("Ready", ""))
	if got := after(s.Save(t.Context(), "ns/two", shotOf("Ready", "waits"))); got != "in 1s" {
		t.Fatal(got)
	}
	clock.Step(time.Second)
	c.fails = errors.New("away")
	for _, key := range []machine.Key{"ns/one", "ns/three", "ns/two"} {
		if got := after(s.Save(t.Context(), key, shotOf("Ready", "new"))); !strings.HasSuffix(got, "away") {
			t.Errorf("%s is saved: %s", key, got)
		}
	}
	if err := s.StoreNote(t.Context(), "ns/one", nil, []byte("1")); err == nil || !strings.HasSuffix(err.Error(), "away") {
		t.Errorf("a note: %v", err)
	}
	if c.writes != 2 {
		t.Errorf("%d writes were tried", c.writes)
	}
	if got := loaded(t, s, "ns/one") + ", " + loaded(t, s, "ns/two") + ", " + loaded(t, s, "ns/three"); got != "Ready, Ready waits, none" {
		t.Errorf("there is %s", got)
	}
	c.fails = nil
	clock.Step(time.Second)
	pass(t, s, "ns/three", shotOf("Ready", "new"))
	again := inConfigMaps(c, 1)
	if got := loaded(t, again, "ns/two") + ", " + loaded(t, again, "ns/three"); got != "Ready waits, Ready new" {
		t.Errorf("stored is %s", got)
	}
}

func waitFor(t *testing.T, is func() bool) {
	t.Helper()
	for !is() {
		select {
		case <-t.Context().Done():
			t.Fatal("it never came")
		case <-time.After(time.Millisecond):
		}
	}
}

func TestConfigMaps_of_an_instance_that_is_gone_are_removed(t *testing.T) {
	for name, shards := range map[string]uint32{"a shard": 1, "one for each": 0} {
		c := newCluster(t)
		s := inConfigMaps(c, shards)
		pass(t, s, "ns/one", shotOf("Ready", ""))
		for range 2 {
			if _, err := s.Forget(t.Context(), "ns/one"); err != nil {
				t.Fatal(err)
			}
		}
		left := &corev1.ConfigMapList{}
		if err := c.List(t.Context(), left); err != nil || len(left.Items) != 0 {
			t.Errorf("%s: %d are left (%v)", name, len(left.Items), err)
		}
		pass(t, s, "ns/one", shotOf("Ready", "again"))
		if got := loaded(t, s, "ns/one"); got != "Ready again" {
			t.Errorf("%s: then there is %s", name, got)
		}
	}
}

// edit has somebody change the only ConfigMap.
func edit(t *testing.T, c *cluster, content []byte) {
	t.Helper()
	stored := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), only, stored); err != nil {
		t.Fatal(err)
	}
	stored.BinaryData[contentKey] = content
	c.theirs(t, func() error { return c.Update(t.Context(), stored) })
}

// brittle is a client whose writes panic until it is mended.
type brittle struct {
	client.Writer
	mended bool
}

func (b *brittle) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	if !b.mended {
		panic("it breaks")
	}
	return b.Writer.Update(ctx, o, opts...)
}

func TestConfigMaps_after_a_write_that_panicked_or_failed_who_mends_one_is_heard(t *testing.T) {
	c := newCluster(t)
	pass(t, inConfigMaps(c, 1), "ns/one", shotOf("Ready", "one"))
	breaks := &brittle{Writer: c}
	clock := testclock.NewFakeClock(noon)
	o := optionsOf(c, 1)
	o.Clock, o.Writer = clock, breaks
	s := NewConfigMaps[int, int](o)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is swallowed")
			}
		}()
		_, _ = s.Save(t.Context(), "ns/one", shotOf("Ready", "new")) // it panics
	}()
	edit(t, c, gzipped(t, `{"ns/one":{"record":{"state":"Mended"}}}`))
	if got := loaded(t, s, "ns/one"); got != "Mended" {
		t.Errorf("after a panic there is %s", got)
	}
	breaks.mended = true
	clock.Step(time.Second)
	c.fails = errors.New("away")
	if got := after(s.Save(t.Context(), "ns/one", shotOf("Ready", "new"))); !strings.HasSuffix(got, "away") {
		t.Error(got)
	}
	c.fails = nil
	edit(t, c, gzipped(t, `{"ns/one":{"record":{"state":"MendedAgain"}}}`))
	if got := loaded(t, s, "ns/one"); got != "MendedAgain" {
		t.Errorf("after an error there is %s", got)
	}
	clock.Step(time.Second)
	pass(t, s, "ns/one", shotOf("Ready", "at last"))
	if got := loaded(t, inConfigMaps(c, 1), "ns/one"); got != "Ready at last" {
		t.Errorf("in the end there is %s", got)
	}
}

func TestConfigMaps_know_the_keys_of_all_that_is_stored(t *testing.T) {
	for name, shards := range map[string]uint32{"shards": 4, "one for each": 0} {
		c := newCluster(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "capstan-tides-9-somebodys"}})
		s := inConfigMaps(c, shards)
		for i := range 30 {
			pass(t, s, keyOf(i), shotOf("Ready", ""))
		}
		o := optionsOf(c, shards)
		o.Name = "capstan-others"
		pass(t, NewConfigMaps[int, int](o), "ns/others", shotOf("Ready", ""))
		keys, err := inConfigMaps(c, shards).Keys(t.Context())
		if err != nil || len(keys) != 30 || slices.Contains(keys, "ns/others") || !slices.Contains(keys, keyOf(29)) {
			t.Errorf("%s: %v (%v)", name, keys, err)
		}
	}
}

func TestConfigMaps_of_each_have_names_that_the_API_allows_and_no_two_the_same(t *testing.T) {
	s := inConfigMaps(newCluster(t), 0)
	of := map[string]machine.Key{}
	for _, key := range []machine.Key{
		"system:x", "system-x", "ns/one", "ns.one", ":", "a", "A", machine.Key(strings.Repeat("a", 253)), machine.Key(strings.Repeat("a", 252)),
		machine.Key("ns/" + strings.Repeat("a", 173) + ".b"), machine.Key("ns/" + strings.Repeat("a", 172) + "-.b"),
	} {
		name := s.nameOf(key)
		if causes := validation.IsDNS1123Subdomain(name); len(causes) > 0 {
			t.Errorf("%s is kept in %s: %v", key, name, causes)
		}
		if other, taken := of[name]; taken {
			t.Errorf("%s and %s are kept in %s", key, other, name)
		}
		of[name] = key
	}
	if got := s.nameOf("ns/one"); !strings.HasPrefix(got, "capstan-tides-ns.one-") {
		t.Errorf("people read %s", got)
	}
}
