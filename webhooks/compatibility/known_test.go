package compatibility

import (
	"context"
	"errors"
	"testing"
)

func TestKnown_forgets_what_was_not_used_for_longest(t *testing.T) {
	k, made := newKnown[string](10), map[string]int{}
	ask := func(key string, weight int) {
		t.Helper()
		got, err := k.get(t.Context(), key, func(context.Context) (string, int, error) {
			made[key]++
			return key, weight, nil
		})
		if err != nil || got != key {
			t.Fatalf("%q, %v", got, err)
		}
	}
	ask("a", 4)
	ask("b", 4)
	ask("a", 4)
	ask("c", 4)
	ask("a", 4)
	ask("b", 4)
	if made["a"] != 1 || made["b"] != 2 || made["c"] != 1 || k.weight > 10 || k.order.Len() != len(k.byKey) {
		t.Errorf("made %v, weighs %d", made, k.weight)
	}
	ask("large", 100)
	ask("large", 100)
	if made["large"] != 1 || k.order.Len() != 1 {
		t.Errorf("one that is larger than all that is kept: made %v, %d kept", made, k.order.Len())
	}
}

func TestKnown_keeps_no_error_and_waits_no_longer_than_who_asks(t *testing.T) {
	k, tries := newKnown[int](1), 0
	for range 2 {
		_, err := k.get(t.Context(), "a", func(context.Context) (int, int, error) {
			tries++
			return 0, 0, errors.New("not now")
		})
		if err == nil {
			t.Error("there is no error")
		}
	}
	if tries != 2 {
		t.Errorf("%d tries", tries)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	held := make(chan struct{})
	defer close(held)
	if _, err := k.get(ctx, "b", func(context.Context) (int, int, error) { <-held; return 0, 0, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestKnown_has_a_panic_meet_who_asked(t *testing.T) {
	k := newKnown[int](1)
	for range 2 {
		func() {
			defer func() {
				if what := recover(); what != "of a library" {
					t.Errorf("it meets %v", what)
				}
			}()
			_, err := k.get(t.Context(), "a", func(context.Context) (int, int, error) { panic("of a library") })
			t.Errorf("it is told %v", err)
		}()
	}
}
