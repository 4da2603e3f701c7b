package conversion

import (
	"context"
	"errors"
	"io"
	"net/http"

	"golang.org/x/sync/semaphore"
)

const (
	// madeOf is how many bytes of memory each byte of a review takes while it is answered: itself, its objects, what they are
	// converted to, and the answer.
	madeOf = 4
	// firstStep is how much of a body is made room for before its first byte, which a client that stays silent holds.
	firstStep = 32 << 10
	// maxRoom is the room of all reviews together, which the largest one fills.
	maxRoom = madeOf * (maxBody + 1)
)

// lease is the room that one request holds.
type lease struct {
	of    *semaphore.Weighted
	bytes int64
}

// read reads a body to its end, and takes room as its bytes come. A request that holds nothing yet waits for room until the context
// ends. One that holds some does not: requests that wait for each other would all fail.
func (l *lease) read(ctx context.Context, r *http.Request) ([]byte, *failure) {
	switch {
	case r.Method != http.MethodPost:
		return nil, failed(malformed, http.StatusMethodNotAllowed, "a review is sent by POST, and this is %s", r.Method)
	case r.ContentLength > maxBody:
		return nil, tooLarge()
	}
	most := int64(maxBody + 1)
	if r.ContentLength >= 0 {
		most = r.ContentLength + 1
	}
	var body []byte
	for {
		if len(body) == cap(body) {
			more := min(max(firstStep, int64(cap(body))), most-int64(cap(body)))
			if more <= 0 {
				return nil, tooLarge()
			}
			if !l.grow(ctx, madeOf*more) {
				return nil, failed(crowded, http.StatusServiceUnavailable, "so many reviews are being answered that there was no room for this one; try again, or list fewer objects at once, with a limit")
			}
			body = append(make([]byte, 0, int64(len(body))+more), body...)
		}
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, failed(malformed, http.StatusBadRequest, "reading the review: %w", err)
		}
	}
}

func (l *lease) grow(ctx context.Context, bytes int64) bool {
	if l.bytes > 0 && !l.of.TryAcquire(bytes) || l.bytes == 0 && l.of.Acquire(ctx, bytes) != nil {
		return false
	}
	l.bytes += bytes
	return true
}

func (l *lease) end() { l.of.Release(l.bytes) }

func tooLarge() *failure {
	return failed(malformed, http.StatusRequestEntityTooLarge, "the review has more than %d bytes; list fewer objects at once, with a limit", maxBody)
}
