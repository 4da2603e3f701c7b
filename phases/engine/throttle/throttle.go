// Package throttle leaves the API server alone for as long as it asks to be.
package throttle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
)

// LongestThrottle bounds what an API server can ask for: it answers for itself, not for the day.
const LongestThrottle = 5 * time.Minute

// Throttle is the way to the API server for everything but watches. When the API server asks to be left alone (429 or 503
// with Retry-After, RFC 9110 section 10.2.3), nothing of any pass is sent until then. What a webhook asks for holds up
// nothing but its object.
type Throttle struct {
	next  http.RoundTripper
	clock clock.Clock

	mu      sync.Mutex
	until   time.Time
	started chan struct{} // of capacity one
}

// New makes the transport over another one.
func New(next http.RoundTripper, c clock.Clock) *Throttle {
	return &Throttle{next: next, clock: c, started: make(chan struct{}, 1)}
}

// Error says that a request was not sent because the API server asked to be left alone.
type Error struct{ Until time.Time }

func (e *Error) Error() string {
	return "the API server asked to be left alone until " + e.Until.UTC().Format("15:04:05Z")
}

// apart is the key in a context of what Apart says.
type apart struct{}

// Apart marks requests for all objects of a kind that may be anybody's. Their refusal throttles nothing else, and neither
// does that of a watch: kube-apiserver asks to wait with those of a kind that it cannot convert, and does so until
// somebody repairs the kind's webhook (https://kep.k8s.io/4568).
func Apart(ctx context.Context) context.Context { return context.WithValue(ctx, apart{}, true) }

// RoundTrip sends a request, unless nothing is to be sent now.
func (t *Throttle) RoundTrip(request *http.Request) (*http.Response, error) {
	watches := request.URL.Query().Get("watch") == "true" // a reflector backs off by itself
	if until := t.End(); !watches && !until.IsZero() {
		return nil, &Error{Until: until}
	}
	response, err := t.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	asks := response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusServiceUnavailable
	if !asks || watches || request.Context().Value(apart{}) != nil || fromAdmission(response) {
		response.Header.Del("Retry-After") // whoever asked tries again in its own time, and client-go not by itself
		return response, nil
	}
	if wait := RetryAfter(response, t.clock.Now()); wait > 0 {
		t.mu.Lock()
		if until := t.clock.Now().Add(min(wait, LongestThrottle)); until.After(t.until) {
			t.until = until
		}
		t.mu.Unlock()
		select {
		case t.started <- struct{}{}:
		default:
		}
		// client-go would wait as well, and then send again by itself, each worker on its own.
		response.Header.Del("Retry-After")
	}
	return response, nil
}

// longestStatus bounds how much of an answer is read to find out who gave it.
const longestStatus = 64 << 10

// fromAdmission says that an admission webhook gave the answer, with a code of its own choice: it is about one object, and
// not the API server's. What was read of the answer can be read again.
func fromAdmission(response *http.Response) bool {
	text, err := io.ReadAll(io.LimitReader(response.Body, longestStatus))
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), response.Body), response.Body}
	var status struct {
		Message string `json:"message"`
	}
	return err == nil && json.Unmarshal(text, &status) == nil && strings.HasPrefix(status.Message, "admission webhook ")
}

// End is when the API server can be asked again; zero for now.
func (t *Throttle) End() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.clock.Now().Before(t.until) {
		t.until = time.Time{}
	}
	return t.until
}

// Remaining is how long nothing is to be sent yet.
func (t *Throttle) Remaining() time.Duration {
	if until := t.End(); !until.IsZero() {
		return until.Sub(t.clock.Now())
	}
	return 0
}

// Wake calls notify when the API server can be asked again, until the context ends.
func (t *Throttle) Wake(ctx context.Context, notify func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.started:
		}
		for wait := t.Remaining(); wait > 0; wait = t.Remaining() {
			select {
			case <-ctx.Done():
				return
			case <-t.clock.After(wait):
			}
		}
		notify()
	}
}

// Caused says that an object was not written only because the API server asked to be left alone.
func (t *Throttle) Caused(err error) bool {
	var throttled *Error
	return errors.As(err, &throttled) || (apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err)) && t.Remaining() > 0
}

// RetryAfter reads the header, which has seconds or a date.
func RetryAfter(response *http.Response, now time.Time) time.Duration {
	text := response.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return at.Sub(now)
	}
	return 0
}
