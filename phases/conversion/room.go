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
	// converted to, and the answer. As many takes each byte that the server of a route answers beyond the size of its review.
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
	body, err := l.take(ctx, r.Body, most, 0)
	switch {
	case errors.Is(err, errTooLarge):
		return nil, tooLarge()
	case errors.Is(err, errCrowded):
		return nil, noRoom()
	case err != nil:
		return nil, failed(malformed, http.StatusBadRequest, "reading the review: %w", err)
	}
	return body, nil
}

var (
	errTooLarge = errors.New("it is too large")
	errCrowded  = errors.New("there is no room for it")
)

// take reads to the end, into at most so many bytes, and takes room for those beyond what is paid already. A lease that has some
// room does not wait for more.
func (l *lease) take(ctx context.Context, from io.Reader, most, paid int64) (body []byte, err error) {
	for {
		if len(body) == cap(body) {
			had := int64(cap(body))
			more := min(step(had, paid), most-had)
			if more <= 0 {
				return nil, errTooLarge
			}
			if unpaid := min(more, had+more-paid); unpaid > 0 && !l.grow(ctx, madeOf*unpaid) {
				return nil, errCrowded
			}
			body = append(make([]byte, 0, had+more), body...)
		}
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, err
		}
	}
}

// step is by how much a body grows that has so many bytes: it doubles, but not beyond what is paid, and slowly from there, since a
// review and its answer have the same room.
func step(had, paid int64) int64 {
	switch {
	case paid == 0:
		return max(firstStep, had)
	case had < paid:
		return min(max(firstStep, had), paid-had)
	}
	return max(firstStep, had/8)
}

func (l *lease) grow(ctx context.Context, bytes int64) bool {
	if l.bytes > 0 && !l.of.TryAcquire(bytes) || l.bytes == 0 && l.of.Acquire(ctx, bytes) != nil {
		return false
	}
	l.bytes += bytes
	return true
}

// shrink gives back what was taken since the lease had so much.
func (l *lease) shrink(to int64) {
	l.of.Release(l.bytes - to)
	l.bytes = to
}

func (l *lease) end() { l.of.Release(l.bytes) }

func noRoom() *failure {
	return failed(crowded, http.StatusServiceUnavailable, "so many reviews are being answered that there was no room for this one; try again, or list fewer objects at once, with a limit")
}

func tooLarge() *failure {
	return failed(malformed, http.StatusRequestEntityTooLarge, "the review has more than %d bytes; list fewer objects at once, with a limit", maxBody)
}
