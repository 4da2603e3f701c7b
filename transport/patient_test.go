package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestPatient_asks_again_for_as_long_as_it_has_patience(t *testing.T) {
	for name, row := range map[string]struct {
		status     int
		retryAfter string
		refusals   int
		asked      int
		last       int
	}{
		"not refused":                           {http.StatusTooManyRequests, "1", 0, 1, http.StatusOK},
		"refused for a moment":                  {http.StatusTooManyRequests, "1", 3, 4, http.StatusOK},
		"unavailable for a moment":              {http.StatusServiceUnavailable, "2", 2, 3, http.StatusOK},
		"refused without an end":                {http.StatusTooManyRequests, "5", 100, 4, http.StatusTooManyRequests},
		"to be asked at once, without an end":   {http.StatusTooManyRequests, "0", 100, 16, http.StatusTooManyRequests},
		"to be left alone for too long":         {http.StatusTooManyRequests, "60", 100, 1, http.StatusTooManyRequests},
		"refused for good":                      {http.StatusForbidden, "1", 100, 1, http.StatusForbidden},
		"unavailable, and nobody asks to wait":  {http.StatusServiceUnavailable, "", 100, 1, http.StatusServiceUnavailable},
		"unavailable until a date, which is no": {http.StatusServiceUnavailable, "Thu, 01 Jan 2026 00:00:00 GMT", 100, 1, http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				if body, err := io.ReadAll(r.Body); err != nil || string(body) != "the body" {
					t.Errorf("asked was %q: %v", body, err)
				}
				if asked > row.refusals {
					return
				}
				if row.retryAfter != "" {
					w.Header().Set("Retry-After", row.retryAfter)
				}
				w.WriteHeader(row.status)
			}))
			defer server.Close()
			now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
			p := NewPatient(http.DefaultTransport)
			p.now = func() time.Time { return now }
			p.after = func(pause time.Duration) <-chan time.Time {
				now = now.Add(pause)
				over := make(chan time.Time)
				close(over)
				return over
			}
			response, err := (&http.Client{Transport: p}).Post(server.URL, "text/plain", strings.NewReader("the body"))
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if response.StatusCode != row.last || asked != row.asked {
				t.Errorf("the answer is %d after %d requests, not %d after %d", response.StatusCode, asked, row.last, row.asked)
			}
			if after := response.Header.Get("Retry-After"); row.last == http.StatusTooManyRequests && after != "" {
				t.Errorf("the client is asked to come again in %s s", after)
			}
		})
	}
}

func TestPatient_begins_anew_after_as_long_without_a_refusal(t *testing.T) {
	p := NewPatient(nil)
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	p.now = func() time.Time { return now }
	for _, at := range []struct {
		seconds int
		has     bool
	}{{0, true}, {10, true}, {14, true}, {15, false}, {20, false}, {35, false}, {51, true}, {65, true}, {66, false}} {
		now = time.Date(2026, 1, 1, 12, 0, at.seconds, 0, time.UTC)
		if has := p.has(time.Second); has != at.has {
			t.Errorf("after %d s it has patience: %v", at.seconds, has)
		}
	}
}

func TestPatient_ends_with_who_waits(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "10")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	p := NewPatient(http.DefaultTransport)
	p.after = func(time.Duration) <-chan time.Time {
		cancel()
		return nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if response, err := (&http.Client{Transport: p}).Do(request); !errors.Is(err, context.Canceled) {
		if err == nil {
			_ = response.Body.Close()
		}
		t.Errorf("it ends with %v", err)
	}
}

// roundTripperFunc is a function as a transport.
type roundTripperFunc func(*http.Request) (*http.Response, error)

func (f roundTripperFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestPatient_begins_anew_once_a_request_was_taken(t *testing.T) {
	asked, now := 0, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	p := NewPatient(roundTripperFunc(func(*http.Request) (*http.Response, error) {
		recorder := httptest.NewRecorder()
		if asked++; asked%2 == 1 {
			recorder.Header().Set("Retry-After", "1")
			recorder.WriteHeader(http.StatusTooManyRequests)
		}
		return recorder.Result(), nil
	}))
	p.now = func() time.Time { return now }
	p.after = func(pause time.Duration) <-chan time.Time {
		now = now.Add(pause)
		over := make(chan time.Time)
		close(over)
		return over
	}
	for i := range 20 {
		request := httptest.NewRequest(http.MethodGet, "http://cluster.test/", http.NoBody)
		response, err := p.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Fatalf("request %d, which is refused once for a second, gets %d", i, response.StatusCode)
		}
	}
}

func TestPatient_asks_for_one_request_no_longer_because_others_are_taken(t *testing.T) {
	asked, now := 0, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	p := NewPatient(roundTripperFunc(func(*http.Request) (*http.Response, error) {
		asked++
		recorder := httptest.NewRecorder()
		recorder.Header().Set("Retry-After", "1")
		recorder.WriteHeader(http.StatusTooManyRequests)
		return recorder.Result(), nil
	}))
	p.now = func() time.Time { return now }
	p.after = func(pause time.Duration) <-chan time.Time {
		now = now.Add(pause)
		p.taken()
		over := make(chan time.Time)
		close(over)
		if asked > 100 {
			t.Fatal("it asks without an end")
		}
		return over
	}
	response, err := p.RoundTrip(httptest.NewRequest(http.MethodGet, "http://cluster.test/", http.NoBody))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusTooManyRequests || asked != 16 {
		t.Errorf("the answer is %d after %d requests", response.StatusCode, asked)
	}
}
