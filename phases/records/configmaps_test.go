package records

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

func TestConfigMaps_records_that_are_saved_side_by_side_are_one_write(t *testing.T) {
	c := newCluster(t)
	s := NewConfigMaps[int, int](c, c, "ops", "tides", 1)
	pass(t, s, "ns/first", shotOf("Ready", ""))
	c.mu.Lock()
	c.hold = make(chan struct{})
	c.mu.Unlock()
	var saves sync.WaitGroup
	saves.Go(func() { pass(t, s, "ns/0", shotOf("Ready", "")) })
	waitFor(t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.waiting == 2
	})
	of := s.of("ns/0")
	for i := range 50 {
		saves.Go(func() { pass(t, s, machine.Key(fmt.Sprintf("ns/%d", i+1)), shotOf("Ready", "")) })
	}
	waitFor(t, func() bool {
		of.mu.Lock()
		defer of.mu.Unlock()
		return of.next != nil && len(of.next.changes) == 50
	})
	close(c.hold)
	saves.Wait()
	if c.writes != 3 {
		t.Errorf("51 records are %d writes", c.writes-1)
	}
	again := NewConfigMaps[int, int](c, c, "ops", "tides", 1)
	for i := range 51 {
		if got := loaded(t, again, machine.Key(fmt.Sprintf("ns/%d", i))); got != "Ready" {
			t.Errorf("of %d there is %s", i, got)
		}
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

func TestConfigMaps_lost_stale_and_damaged(t *testing.T) {
	at := client.ObjectKey{Namespace: "ops", Name: "capstan-tides-records-0"}
	c := newCluster(t)
	s := NewConfigMaps[int, int](c, c, "ops", "tides", 1)
	pass(t, s, "ns/one", shotOf("Ready", "one"))
	pass(t, s, "ns/two", shotOf("Ready", "two"))
	stored := &corev1.ConfigMap{}
	get := func() {
		t.Helper()
		*stored = corev1.ConfigMap{}
		if err := c.Get(t.Context(), at, stored); err != nil {
			t.Fatal(err)
		}
	}
	get()
	if err := c.Delete(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	pass(t, s, "ns/one", shotOf("Ready", "after it was deleted"))
	if got := loaded(t, NewConfigMaps[int, int](c, c, "ops", "tides", 1), "ns/two"); got != "Ready two" {
		t.Errorf("deleted under a running operator, and there is %s", got)
	}

	get()
	edited, err := pack(entries{"ns/two": json.RawMessage(`{"state":"Edited"}`)})
	if err != nil {
		t.Fatal(err)
	}
	stored.BinaryData[contentKey] = edited
	if err := c.WithWatch.Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	pass(t, s, "ns/one", shotOf("Ready", "after an edit"))
	if got := loaded(t, s, "ns/one") + ", " + loaded(t, s, "ns/two"); got != "Ready after an edit, Edited" {
		t.Errorf("after an edit there is %s", got)
	}

	get()
	stored.BinaryData[contentKey] = []byte("nonsense")
	if err := c.WithWatch.Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	if got := loaded(t, NewConfigMaps[int, int](c, c, "ops", "tides", 1), "ns/one"); got != "none" {
		t.Errorf("of a damaged one there is %s", got)
	}
}

func TestConfigMaps_of_an_instance_that_is_gone_are_removed(t *testing.T) {
	for name, shards := range map[string]uint32{"a shard": 1, "one for each": 0} {
		c := newCluster(t)
		s := NewConfigMaps[int, int](c, c, "ops", "tides", shards)
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
