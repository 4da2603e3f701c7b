package conversion

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// tries are the moments, after the first, at which a server is asked that did not answer: a rollout or a failover takes a second.
// What takes longer is left to the next request of whoever asked.
var tries = []time.Duration{0, 700 * time.Millisecond, 2 * time.Second}

// ask has the server of a route answer a review, in standard text both, and the answer read. A review changes nothing, so that it can be
// sent again.
func (s *Shim) ask(ctx context.Context, a asked, review any, read func(body []byte) error) *failure {
	d, err := s.routes.to(a.route)
	if err != nil {
		return failed(unknown, http.StatusBadGateway, "%w", err)
	}
	text, err := json.Marshal(review)
	if err != nil {
		return failed(malformed, http.StatusBadRequest, "writing the review for route %s: %w", a.route, err)
	}
	began, last := s.clock.Now(), error(nil)
	for at, later := range tries {
		if err := s.wait(ctx, later-s.clock.Since(began)); err != nil {
			break
		}
		var final bool
		before := a.held.bytes
		if final, last = d.send(ctx, a, text, read); last == nil {
			return nil
		}
		a.held.shrink(before)
		if errors.Is(last, errCrowded) {
			return noRoom()
		}
		if final || s.clock.Since(began) > tries[len(tries)-1] {
			return failed(away, http.StatusBadGateway, "asking route %s, try %d: %w", a.route, at+1, last)
		}
	}
	return failed(away, http.StatusBadGateway, "asking route %s, %d tries: %w; look whether its server runs", a.route, len(tries), errors.Join(last, ctx.Err()))
}

// wait returns when so much time has passed, or the error of a context that ended before.
func (s *Shim) wait(ctx context.Context, long time.Duration) error {
	if long <= 0 {
		return ctx.Err()
	}
	timer := s.clock.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// send makes one try. Final says that another one would come to the same.
func (d *delegate) send(ctx context.Context, a asked, text []byte, read func(body []byte) error) (final bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.base.JoinPath(a.path).String(), bytes.NewReader(text))
	if err != nil {
		return true, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := d.client.Do(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	body, err := a.held.take(ctx, response.Body, maxBody+1, int64(len(a.body)))
	switch {
	case errors.Is(err, errTooLarge):
		return true, fmt.Errorf("the answer has more than %d bytes", maxBody)
	case err != nil:
		return errors.Is(err, errCrowded), fmt.Errorf("reading the answer: %w", err)
	case response.StatusCode == http.StatusOK:
		if err := read(body); err != nil {
			return true, fmt.Errorf("reading the answer: %w", err)
		}
		return true, nil
	case response.StatusCode == http.StatusBadGateway, response.StatusCode == http.StatusServiceUnavailable, response.StatusCode == http.StatusGatewayTimeout:
		return false, fmt.Errorf("it answers %s", response.Status)
	}
	return true, fmt.Errorf("it answers %s: %s", response.Status, shorten(string(bytes.TrimSpace(body))))
}
