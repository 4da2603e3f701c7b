package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTogether_what_hangs_does_not_keep_the_process_from_its_end(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, never := time.Now(), make(chan struct{})
		defer close(never)
		err := together(t.Context(), []func(context.Context) error{
			func(context.Context) error { return errors.New("a pass hangs") },
			func(context.Context) error { <-never; return nil },
		})
		if err == nil || !strings.HasPrefix(err.Error(), "a pass hangs; not everything has ended within") || time.Since(began) != 2*endTimeout {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}
