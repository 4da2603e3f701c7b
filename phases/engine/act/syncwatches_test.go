package act

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/capstan-capi/capstan/phases/engine/enginetest"
)

func TestRun_asks_again_for_missing_kinds_however_often_it_is_kicked(t *testing.T) {
	asked := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api" && r.URL.Path != "/apis" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if r.URL.Path == "/api" {
			asked <- struct{}{}
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`))
	}))
	defer server.Close()
	clk := clocktesting.NewFakeClock(time.Unix(0, 0))
	e, err := New(Config{REST: &rest.Config{Host: server.URL}, Namespace: "n", Owner: enginetest.Owner, FieldManager: "capstan", InventoryPrefix: "capstan-inventory-", Clock: clk})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- e.Run(ctx) }()
	e.Watch(enginetest.Revision(1, enginetest.Made(t, "elsewhere.example/v1 Gadget")...))
	<-asked
	for range 4 {
		e.kick()
		for len(e.kicked) > 0 {
			runtime.Gosched()
		}
		clk.Step(askAgain / 3)
	}
	select {
	case <-asked:
	case <-time.After(10 * time.Second):
		t.Error("it never asked again")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
