package transport

import (
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// patience is how long a command waits for an API server that asks to be left alone, from when it does so first. After as long
// without that, or once a request was taken, it begins anew.
const patience = 15 * time.Second

// Patient sends a request again that the API server has refused for now (429 or 503 with Retry-After, RFC 9110 section
// 10.2.3), as it does for the instances of a kind that was made a moment ago. It is for commands that ask once and end: what
// goes on asking, as the operator, leaves the API server alone by itself. Refused for longer than 15 seconds in a
// row, the last answer is given back without the moment that it asks for, so that no client goes on with that.
type Patient struct {
	next  http.RoundTripper
	now   func() time.Time
	after func(time.Duration) <-chan time.Time

	mu          sync.Mutex
	first, last time.Time
}

// NewPatient makes it over another transport.
func NewPatient(next http.RoundTripper) *Patient {
	return &Patient{next: next, now: time.Now, after: time.After}
}

// RoundTrip sends a request until it is not refused for now.
func (p *Patient) RoundTrip(request *http.Request) (*http.Response, error) {
	var refused time.Time // when this one was first: others that are taken meanwhile are no reason to ask for it without an end
	for {
		response, err := p.next.RoundTrip(request)
		if err != nil {
			return nil, err
		}
		pause, asks := asked(response)
		if !asks {
			p.taken()
			return response, nil
		}
		if refused.IsZero() {
			refused = p.now()
		}
		if !p.has(pause) || p.now().Add(pause).After(refused.Add(patience)) {
			response.Header.Del("Retry-After")
			return response, nil
		}
		again := request.Clone(request.Context())
		if request.Body != nil && request.Body != http.NoBody {
			if request.GetBody == nil {
				return response, nil
			}
			if again.Body, err = request.GetBody(); err != nil {
				return response, nil //nolint:nilerr // what cannot be sent again was answered all the same
			}
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // so that the connection is used again
		_ = response.Body.Close()
		select {
		case <-request.Context().Done():
			return nil, request.Context().Err()
		case <-p.after(pause):
		}
		request = again
	}
}

// asked is how long an answer asks to wait, a second at least, if it does.
func asked(response *http.Response) (time.Duration, bool) {
	if response.StatusCode != http.StatusTooManyRequests && response.StatusCode != http.StatusServiceUnavailable {
		return 0, false
	}
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	return max(time.Duration(seconds)*time.Second, time.Second), err == nil && seconds >= 0
}

// taken has patience begin anew.
func (p *Patient) taken() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.first, p.last = time.Time{}, time.Time{}
}

// has says that there is patience left for a pause.
func (p *Patient) has(pause time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if now.Sub(p.last) > patience {
		p.first = now
	}
	p.last = now
	return !now.Add(pause).After(p.first.Add(patience))
}
