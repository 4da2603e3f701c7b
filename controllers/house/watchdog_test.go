package house

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"github.com/capstan-capi/capstan/transport"
)

// mostSilent is how many looks in a row may find nothing.
const mostSilent = int(hangsAfter / lookEvery)

// answers is an API server.
type answers struct{}

func (answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody}, nil
}

func TestWatchdog_a_pass_that_nothing_comes_of_hangs(t *testing.T) {
	w := &watchdog{}
	_, ended := w.begin(t.Context(), "one that ended")
	ended()
	for range 3 * mostSilent {
		if err := w.look(); err != nil {
			t.Fatal(err)
		}
	}
	asking, asked := w.begin(t.Context(), "one that asks")
	for look := range 3 * mostSilent {
		if look%mostSilent == 0 {
			request, err := http.NewRequestWithContext(asking, http.MethodGet, "http://server/version", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			response, err := transport.Bound(answers{}).RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			if err := response.Body.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.look(); err != nil {
			t.Fatalf("look %d: %v", look, err)
		}
	}
	asked()
	_, done := w.begin(t.Context(), "clusterapi of cluster")
	for range mostSilent {
		if err := w.look(); err != nil || w.check(nil) != nil {
			t.Fatalf("too early: %v", err)
		}
	}
	if err := w.look(); err == nil || !strings.Contains(err.Error(), "a pass of clusterapi of cluster hangs: nothing came of its requests for 1m30s") ||
		!strings.Contains(err.Error(), "this process ends") || !strings.Contains(err.Error(), "--cache-dir") {
		t.Errorf("it says %v", err)
	}
	done()
	if w.check(nil) == nil {
		t.Error("/healthz says that all is well, while the process ends")
	}
}

func TestWatchdog_a_process_that_was_stopped_does_not_hang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, clock, ended := &watchdog{}, testclock.NewFakeClock(noon), make(chan error)
		w.begin(t.Context(), "a pass")
		go func() { ended <- w.run(t.Context(), clock) }()
		synctest.Wait()
		clock.Step(time.Hour)
		synctest.Wait()
		if err := w.check(nil); err != nil {
			t.Fatal(err)
		}
		for range mostSilent {
			clock.Step(lookEvery)
			synctest.Wait()
		}
		if err := <-ended; err == nil {
			t.Error("a pass that hangs does not end the process")
		}
	})
}
