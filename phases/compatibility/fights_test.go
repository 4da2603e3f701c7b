package compatibility

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestWrite_tells_the_last_error_for_as_long_as_the_next_write_is_held_off(t *testing.T) {
	b, both := keptBench(t)
	for _, c := range both {
		b.disarm(c, "")
	}
	good, tried := b.Client, 0
	down := errors.New("the API server is down")
	b.Client = interceptor.NewClient(good.(client.WithWatch), interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			tried++
			return down
		},
	})
	for pass := range 3 * fixedAtOnce {
		_, p := b.observe()
		if _, err := KeepHooks.Run(t.Context(), p); !errors.Is(err, down) {
			t.Fatalf("in pass %d, after %d writes, the error is %v", pass, tried, err)
		}
	}
	if tried > 2*fixedAtOnce {
		t.Errorf("%d writes were tried in one moment", tried)
	}
	if f, _ := b.observe(); strings.Contains(strings.Join(f.Hooks.Missing, ";"), "somebody") {
		t.Errorf("missing is %v", f.Hooks.Missing)
	}
	b.Client, b.now = good, b.now.Add(fixedEvery)
	if f := b.do(KeepHooks); len(f.Hooks.Missing) > 0 {
		t.Errorf("missing is %v", f.Hooks.Missing)
	}
	if err := b.fights.last(both[0].String()); err != nil {
		t.Errorf("the error is still told: %v", err)
	}
}
