package harness

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestEventuallyRepeatsUntilThereIsNoError(t *testing.T) {
	tries := 0
	err := Eventually(t.Context(), "three tries", func(context.Context) error {
		if tries++; tries < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil || tries != 3 {
		t.Errorf("%d tries, %v", tries, err)
	}
}

func TestEventuallyTellsWhyItGaveUpAndWhatWasStillMissing(t *testing.T) {
	ctx, giveUp := context.WithCancelCause(t.Context())
	tries := 0
	err := Eventually(ctx, "the end", func(ctx context.Context) error {
		if tries++; tries == 2 {
			giveUp(errors.New("the operator is gone"))
			return ctx.Err()
		}
		return errors.New("one object is left")
	})
	for _, want := range []string{"the end", "the operator is gone", "one object is left"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("%v tells of the cancelled attempt instead of the one before it", err)
	}
}
