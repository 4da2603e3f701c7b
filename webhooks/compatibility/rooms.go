package compatibility

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Bounds of the bodies that are in memory at once. Whoever reaches the port may send any, and who was first is first. What is
// small does not wait for what is large.
const (
	smallBodies, largeBodies = 32, 4
	smallBody                = 256 << 10
	// maxBody is what may be in an API server's request: two objects of 3 MiB, and what is around them.
	maxBody = 7 << 20
	// bodyTimeout is how long a body may take to arrive.
	bodyTimeout = 3 * time.Second
)

// rooms have a place for each body that is being read and judged.
type rooms struct{ small, large chan struct{} }

func newRooms() rooms {
	return rooms{small: make(chan struct{}, smallBodies), large: make(chan struct{}, largeBodies)}
}

// before reads the body of a request once there is a place for it. Waiting, reading and judging together are bounded in time. What
// is answered with an error here is for the webhook's failurePolicy to decide.
func (r rooms) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		ctx, cancel := context.WithTimeout(request.Context(), answerTimeout)
		defer cancel()
		if request.ContentLength > maxBody {
			http.Error(w, fmt.Sprintf("the request has %d bytes, and may have %d", request.ContentLength, maxBody), http.StatusRequestEntityTooLarge)
			return
		}
		places := r.large
		if request.ContentLength >= 0 && request.ContentLength <= smallBody {
			places = r.small
		}
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		case <-ctx.Done():
			http.Error(w, fmt.Sprintf("the checker has %d requests of that size at once, and none has ended in time", cap(places)), http.StatusServiceUnavailable)
			return
		}
		body, err := received(w, request)
		if err != nil {
			http.Error(w, "the request does not come to its end", http.StatusRequestTimeout)
			return
		}
		request = request.WithContext(ctx)
		request.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, request)
	})
}

// received is the body of a request, unless it takes too long.
func received(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	connection := http.NewResponseController(w)
	// A connection that knows no deadlines is none of a server's.
	_ = connection.SetReadDeadline(time.Now().Add(bodyTimeout))
	body := bytes.NewBuffer(make([]byte, 0, max(r.ContentLength, 0)+bytes.MinRead)) // no longer than maxBody, as was asked before
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody))
	// Of a connection whose deadline passes the server takes it that whoever asked has gone.
	_ = connection.SetReadDeadline(time.Time{})
	return body.Bytes(), err
}
