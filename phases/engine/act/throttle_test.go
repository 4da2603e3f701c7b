package act

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/throttle"
)

// busy is an engine whose API server answers every request with a status and asks to be asked again after a while.
func busy(t *testing.T, status int, after string) (*Engine, *atomic.Int32, *clocktesting.FakeClock) {
	t.Helper()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	clk := clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	e, err := New(Config{REST: &rest.Config{Host: server.URL, QPS: -1}, Namespace: "n", Owner: enginetest.Owner, FieldManager: "capstan", InventoryPrefix: "capstan-inventory-", Clock: clk})
	if err != nil {
		t.Fatal(err)
	}
	return e, &asked, clk
}

func TestHold_nobody_sends_until_the_time_that_the_API_server_asked_for(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		e, asked, clk := busy(t, status, "30")
		get := func() error {
			_, err := e.dynamic.Resource(configMaps).Namespace("n").Get(t.Context(), "a", metav1.GetOptions{})
			return err
		}
		if err := get(); err == nil || !e.throttle.Caused(err) || asked.Load() != 1 {
			t.Fatalf("%d: the first request: %v, %d sent: client-go must not try again by itself", status, err, asked.Load())
		}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				var held *throttle.Error
				if err := get(); !errors.As(err, &held) || held.Error() != "the API server asked to be left alone until 03:04:35Z" {
					t.Errorf("%d: %v", status, err)
				}
			})
		}
		all.Wait()
		if asked.Load() != 1 || e.throttle.Remaining() != 30*time.Second {
			t.Errorf("%d: %d requests were sent, %s remain", status, asked.Load(), e.throttle.Remaining())
		}
		clk.Step(31 * time.Second)
		if _ = get(); asked.Load() != 2 {
			t.Errorf("%d: %d requests were sent when the time was over", status, asked.Load())
		}
	}
}

func TestHold_without_Retry_After_or_for_other_answers_nothing_is_held_back(t *testing.T) {
	for status, after := range map[int]string{http.StatusTooManyRequests: "", http.StatusForbidden: "30", http.StatusInternalServerError: ""} {
		e, _, _ := busy(t, status, after)
		_, err := e.dynamic.Resource(configMaps).Namespace("n").Get(t.Context(), "a", metav1.GetOptions{})
		if err == nil || e.throttle.Remaining() != 0 || e.throttle.Caused(err) {
			t.Errorf("%d: %v, %s", status, err, e.throttle.Remaining())
		}
	}
}

func TestHold_no_other_error_makes_client_go_wait(t *testing.T) {
	for _, status := range []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout, 599} {
		e, asked, _ := busy(t, status, "1")
		_, err := e.dynamic.Resource(configMaps).Namespace("n").Get(t.Context(), "a", metav1.GetOptions{})
		if err == nil || asked.Load() != 1 || e.throttle.Remaining() != 0 {
			t.Errorf("%d: %v, %d requests were sent", status, err, asked.Load())
		}
	}
}

func TestHold_is_bounded_and_reads_dates(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	response := &http.Response{Header: http.Header{}}
	for text, want := range map[string]time.Duration{
		"": 0, "soon": 0, "7": 7 * time.Second, now.Add(time.Minute).Format(http.TimeFormat): time.Minute,
	} {
		response.Header.Set("Retry-After", text)
		if got := throttle.RetryAfter(response, now); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	e, _, _ := busy(t, http.StatusTooManyRequests, "86400")
	_, _ = e.dynamic.Resource(configMaps).Namespace("n").Get(t.Context(), "a", metav1.GetOptions{})
	if got := e.throttle.Remaining(); got != throttle.LongestThrottle {
		t.Errorf("it is held for %s", got)
	}
}

func TestHold_the_world_is_told_when_it_is_over(t *testing.T) {
	e, _, clk := busy(t, http.StatusTooManyRequests, "30")
	told := make(chan struct{})
	go e.throttle.Wake(t.Context(), func() { close(told) })
	_, _ = e.dynamic.Resource(configMaps).Namespace("n").Get(t.Context(), "a", metav1.GetOptions{})
	for !clk.HasWaiters() {
		runtime.Gosched()
	}
	clk.Step(30 * time.Second)
	<-told
}

func TestHold_what_says_something_about_one_kind_only_holds_nothing_else_up(t *testing.T) {
	e, asked, _ := busy(t, http.StatusTooManyRequests, "30")
	for range 2 {
		if _, err := e.cluster.Reader.ListPage(t.Context(), configMaps, "n", metav1.ListOptions{}); !apierrors.IsTooManyRequests(err) {
			t.Errorf("a list: %v", err)
		}
		if _, err := e.dynamic.Resource(configMaps).Watch(t.Context(), metav1.ListOptions{}); !apierrors.IsTooManyRequests(err) {
			t.Errorf("a watch: %v", err)
		}
	}
	if asked.Load() != 4 || e.throttle.Remaining() != 0 {
		t.Errorf("%d requests were sent, %s remain", asked.Load(), e.throttle.Remaining())
	}
}

func TestHold_what_a_webhook_answers_holds_nothing_else_up(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"Status","status":"Failure","code":429,"reason":"TooManyRequests",` +
			`"message":"admission webhook \"busy.test\" denied the request: come back later","details":{"retryAfterSeconds":30}}`))
	}))
	t.Cleanup(server.Close)
	e, err := New(Config{REST: &rest.Config{Host: server.URL, QPS: -1}, Namespace: "n", Owner: enginetest.Owner, FieldManager: "capstan", InventoryPrefix: "capstan-inventory-"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.dynamic.Resource(configMaps).Namespace("n").Create(t.Context(), enginetest.Applied(), metav1.CreateOptions{})
	if !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), "come back later") {
		t.Errorf("the answer is %v", err)
	}
	if e.throttle.Remaining() != 0 || e.throttle.Caused(err) {
		t.Errorf("everything waits for %s", e.throttle.Remaining())
	}
}
