package throttle

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
)

// longestThrottle bounds what an API server can ask for: it answers for itself, not for the day.
const LongestThrottle = 5 * time.Minute

// Throttle is the way to the API server for everything but watches. When the API server asks to be left alone (429 or 503
// with Retry-After, RFC 9110 section 10.2.3), nothing of any pass is sent until then.
type Throttle struct {
	next  http.RoundTripper
	clock clock.Clock

	mu      sync.Mutex
	until   time.Time
	started chan struct{} // holds one
}

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
func (h *Throttle) RoundTrip(request *http.Request) (*http.Response, error) {
	watches := request.URL.Query().Get("watch") == "true" // a reflector backs off by itself
	if until := h.End(); !watches && !until.IsZero() {
		return nil, &Error{Until: until}
	}
	response, err := h.next.RoundTrip(request)
	if err != nil || response.StatusCode != http.StatusTooManyRequests && response.StatusCode != http.StatusServiceUnavailable {
		return response, err
	}
	if watches || request.Context().Value(apart{}) != nil {
		response.Header.Del("Retry-After") // whoever asked tries again in its own time
		return response, nil
	}
	if wait := RetryAfter(response, h.clock.Now()); wait > 0 {
		h.mu.Lock()
		if until := h.clock.Now().Add(min(wait, LongestThrottle)); until.After(h.until) {
			h.until = until
		}
		h.mu.Unlock()
		select {
		case h.started <- struct{}{}:
		default:
		}
		// client-go would wait as well, and then send again by itself, each worker on its own.
		response.Header.Del("Retry-After")
	}
	return response, nil
}

// end is when the API server can be asked again; zero for now.
func (h *Throttle) End() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.clock.Now().Before(h.until) {
		h.until = time.Time{}
	}
	return h.until
}

// remaining is how long nothing is to be sent yet.
func (h *Throttle) Remaining() time.Duration {
	if until := h.End(); !until.IsZero() {
		return until.Sub(h.clock.Now())
	}
	return 0
}

// wake calls notify when the API server can be asked again, until the context ends.
func (h *Throttle) Wake(ctx context.Context, notify func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.started:
		}
		for wait := h.Remaining(); wait > 0; wait = h.Remaining() {
			select {
			case <-ctx.Done():
				return
			case <-h.clock.After(wait):
			}
		}
		notify()
	}
}

// caused says that an object was not written only because the API server asked to be left alone.
func (h *Throttle) Caused(err error) bool {
	var held *Error
	return errors.As(err, &held) || (apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err)) && h.Remaining() > 0
}

// retryAfter reads the header, which has seconds or a date.
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
