package house

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestTogether_what_hangs_does_not_keep_the_process_from_its_end(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, never := time.Now(), make(chan struct{})
		defer close(never)
		err := Together(t.Context(), []func(context.Context) error{
			func(context.Context) error { return errors.New("a pass hangs") },
			func(context.Context) error { <-never; return nil },
		})
		if err == nil || !strings.HasPrefix(err.Error(), "a pass hangs; not everything has ended within") || time.Since(began) != 2*EndTimeout {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

func TestLease_leaves_the_access_of_everything_else_as_it_is(t *testing.T) {
	access := &rest.Config{Host: "https://127.0.0.1:1", UserAgent: "capstan"}
	lock, err := Lease(access, client.ObjectKey{Namespace: "here", Name: "leader"})
	if err != nil {
		t.Fatal(err)
	}
	if got := lock.Describe(); got != "here/leader" {
		t.Errorf("the Lease is %s", got)
	}
	// A timeout would end every watch that often.
	if access.Timeout != 0 || access.UserAgent != "capstan" {
		t.Errorf("the access became %s", access)
	}
}
