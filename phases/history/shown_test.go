package history

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestKeeper_takes_what_a_watch_shows_first_for_what_is_stored_and_sends_no_request(t *testing.T) {
	c := fake.NewFakeClient()
	first := loaded(t, c)
	first.List(revision(1))
	if err := first.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	stored := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: ConfigMap}, stored); err != nil {
		t.Fatal(err)
	}
	silent := interceptor.NewClient(c, interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errors.New("it is asked for")
		},
	})
	for name, row := range map[string]struct {
		shown *corev1.ConfigMap
		knows int
	}{"what is there": {stored, 1}, "that there is nothing": {nil, 0}} {
		asked := make(chan struct{})
		k := New(silent, silent, "ns", func() { close(asked) }, clocktesting.NewFakeClock(noon), logr.Discard())
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- k.Run(ctx) }()
		k.Shown(ctx, row.shown)
		<-asked
		if h, read := k.Known(); !read || len(h.Revisions) != row.knows {
			t.Errorf("%s is shown, and it remembers %+v, %v", name, h, read)
		}
		k.List(revision(2))
		k.Shown(ctx, stored) // what is shown later is no news
		if h, _ := k.Known(); len(h.Revisions) != row.knows+1 || len(stored.Data[Key]) == 0 {
			t.Errorf("%s was shown, and then it remembers %+v", name, h)
		}
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestRun_asks_for_what_no_watch_shows(t *testing.T) {
	clock, asked := clocktesting.NewFakeClock(noon), make(chan struct{})
	k := New(fake.NewFakeClient(), fake.NewFakeClient(), "ns", func() { close(asked) }, clock, logr.Discard())
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- k.Run(ctx) }()
	for !clock.HasWaiters() {
		runtime.Gosched()
	}
	clock.Step(writeEvery)
	<-asked
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
