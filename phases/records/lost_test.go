package records

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// telling is a store with one shard, and what it has told since.
func telling(c *cluster) (s *ConfigMaps[int, int], told func() string) {
	var all []string
	o := optionsOf(c, 1)
	o.Tell = func(configMap client.ObjectKey, what string) { all = append(all, configMap.String()+": "+what) }
	return NewConfigMaps[int, int](o), func() string {
		defer func() { all = nil }()
		return strings.Join(all, "\n")
	}
}

// lose has somebody delete the only ConfigMap.
func lose(t *testing.T, c *cluster) {
	t.Helper()
	if err := c.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: only.Namespace, Name: only.Name}}); err != nil {
		t.Fatal(err)
	}
}

func storeNote(t *testing.T, s *ConfigMaps[int, int], n int, note string) {
	t.Helper()
	seen, err := s.Note(t.Context(), keyOf(n))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.StoreNote(t.Context(), keyOf(n), seen, []byte(note)); err != nil {
		t.Fatal(err)
	}
}

func noteOf(t *testing.T, s *ConfigMaps[int, int], n int) string {
	t.Helper()
	note, err := s.Note(t.Context(), keyOf(n))
	if err != nil {
		t.Fatal(err)
	}
	return string(note)
}

func TestConfigMaps_what_is_lost_or_spoilt_is_written_again_from_memory(t *testing.T) {
	spoil := func(content string) func(*testing.T, *cluster) {
		return func(t *testing.T, c *cluster) { edit(t, c, gzipped(t, content)) }
	}
	for name, row := range map[string]struct {
		harm func(*testing.T, *cluster)
		told string
	}{
		"lost":           {lose, "it is lost; it is written again from memory"},
		"nonsense":       {func(t *testing.T, c *cluster) { edit(t, c, []byte("nonsense")) }, "it is spoilt; it is written again from memory"},
		"cut off":        {spoil(`{"ns/2":{"note":8}`), "it is spoilt; it is written again from memory"},
		"a spoilt entry": {spoil(`{"ns/2":{"record":7},"ns/3":{"note":"three"}}`), "it is spoilt; it is written again from memory"},
	} {
		for _, failed := range []bool{false, true} {
			c := newCluster(t)
			s, told := telling(c)
			for n := 1; n <= 3; n++ {
				pass(t, s, keyOf(n), shotOf("Ready", "fine"))
				storeNote(t, s, n, `"note"`)
			}
			row.harm(t, c)
			if failed { // and is found so before there is anything to write
				c.fails = errors.New("away")
				if err := s.StoreNote(t.Context(), keyOf(1), []byte(`"note"`), []byte("7")); err == nil {
					t.Fatal("it is stored")
				}
				c.fails = nil
				pass(t, s, keyOf(2), shotOf("Ready", "fine"))
			} else {
				pass(t, s, keyOf(1), shotOf("Ready", "fine again"))
			}
			again := inConfigMaps(c, 1)
			if got := loaded(t, again, keyOf(2)) + " " + noteOf(t, again, 2); got != `Ready fine "note"` {
				t.Errorf("%s: then there is %s", name, got)
			}
			if got := told(); got != "ops/capstan-tides-0: "+row.told {
				t.Errorf("%s: told is %q", name, got)
			}
		}
	}
}

func TestConfigMaps_what_is_spoilt_before_a_start_begins_anew_and_is_told(t *testing.T) {
	for content, want := range map[string]string{
		`{"ns/1":`: "it is spoilt, and its instances begin anew without their notes: ",
		`{"ns/1":{"record":7},"ns/2":{"note":2}}`: "1 entries of it are spoilt, and their instances begin anew, such as ns/1",
	} {
		c := newCluster(t)
		pass(t, inConfigMaps(c, 1), keyOf(1), shotOf("Ready", ""))
		edit(t, c, gzipped(t, content))
		s, told := telling(c)
		if got := loaded(t, s, keyOf(1)); got != "none" {
			t.Errorf("of a spoilt one there is %s", got)
		}
		if got := told(); !strings.HasPrefix(got, "ops/capstan-tides-0: "+want) {
			t.Errorf("told is %q", got)
		}
		pass(t, s, keyOf(1), shotOf("Ready", "anew"))
		if got := loaded(t, inConfigMaps(c, 1), keyOf(1)) + told(); got != "Ready anew" {
			t.Errorf("then there is %s", got)
		}
	}
}

func TestConfigMaps_an_edit_is_heard_with_the_next_write(t *testing.T) {
	c := newCluster(t)
	s, told := telling(c)
	pass(t, s, keyOf(1), shotOf("Ready", "one"))
	pass(t, s, keyOf(2), shotOf("Ready", "two"))
	pass(t, s, keyOf(3), shotOf("Ready", "three"))
	edit(t, c, gzipped(t, `{"ns/2":{"record":{"state":"Edited"},"note":5}}`))
	pass(t, s, keyOf(1), shotOf("Ready", "after an edit"))
	if got := loaded(t, s, keyOf(1)) + ", " + loaded(t, s, keyOf(2)) + ", " + loaded(t, s, keyOf(3)) + ", " + noteOf(t, s, 2) + told(); got != "Ready after an edit, Edited, none, 5" {
		t.Errorf("after an edit there is %s", got)
	}
}

func TestConfigMaps_one_that_cannot_be_read_stops_its_instances_and_is_not_asked_for_all_the_time(t *testing.T) {
	c, reads, fails := newCluster(t), 0, true
	clock := testclock.NewFakeClock(noon)
	o := optionsOf(c, 1)
	o.Clock = clock
	o.Live = interceptor.NewClient(c, interceptor.Funcs{Get: func(ctx context.Context, from client.WithWatch, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
		if reads++; fails {
			return errors.New("away")
		}
		return from.Get(ctx, key, into, opts...)
	}})
	s := NewConfigMaps[int, int](o)
	for n := range 5 {
		_, _, loading := s.Load(t.Context(), keyOf(n))
		_, noting := s.Note(t.Context(), keyOf(n))
		for _, err := range []error{loading, noting, s.StoreNote(t.Context(), keyOf(n), nil, []byte("1"))} {
			if err == nil || !strings.HasSuffix(err.Error(), "reading ConfigMap ops/capstan-tides-0: away") {
				t.Errorf("of %d: %v", n, err)
			}
		}
	}
	if reads != 1 {
		t.Errorf("it is read %d times", reads)
	}
	fails = false
	clock.Step(time.Second)
	if got := loaded(t, s, keyOf(1)); got != "none" || reads != 2 {
		t.Errorf("then there is %s, after %d reads", got, reads)
	}
}

func TestConfigMaps_hold_no_note_that_only_memory_has(t *testing.T) {
	c := newCluster(t)
	s, _ := telling(c)
	storeNote(t, s, 1, `{"a":1}`)
	holds := func(want bool, when string) {
		t.Helper()
		note, err := s.Note(t.Context(), keyOf(1))
		if got := s.HoldsNote(keyOf(1), note); got != want || err != nil || string(note) != `{"a":1}` {
			t.Errorf("%s: it holds %s: %v (%v)", when, note, got, err)
		}
	}
	holds(true, "stored")
	lose(t, c)
	c.fails = errors.New("away")
	if err := s.StoreNote(t.Context(), keyOf(2), nil, []byte(`2`)); err == nil {
		t.Fatal("it is stored")
	}
	holds(false, "lost")
	c.fails = nil
	storeNote(t, s, 1, `{"a":1}`) // the same
	holds(true, "written again")
}
