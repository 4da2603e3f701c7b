package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fault answers a request in place of the API server.
type Fault func(*Exchange)

// reasons are those that API servers give with a status.
var reasons = map[int]metav1.StatusReason{
	http.StatusConflict:            metav1.StatusReasonConflict,
	http.StatusForbidden:           metav1.StatusReasonForbidden,
	http.StatusGone:                metav1.StatusReasonExpired,
	http.StatusUnprocessableEntity: metav1.StatusReasonInvalid,
	http.StatusTooManyRequests:     metav1.StatusReasonTooManyRequests,
	http.StatusInternalServerError: metav1.StatusReasonInternalError,
	http.StatusServiceUnavailable:  metav1.StatusReasonServiceUnavailable,
	http.StatusGatewayTimeout:      metav1.StatusReasonTimeout,
}

// Answer is an error as the API server would send it. Of a status above zero
// retryAfter is the number of seconds after which to try again.
func Answer(status, retryAfter int) Fault {
	return func(x *Exchange) {
		body := metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status:   metav1.StatusFailure, Code: int32(status), Reason: reasons[status], //nolint:gosec // A status has three digits.
			Message: "the fault proxy answers " + http.StatusText(status),
		}
		if retryAfter > 0 {
			x.answer.Header().Set("Retry-After", strconv.Itoa(retryAfter))
			body.Details = &metav1.StatusDetails{RetryAfterSeconds: int32(retryAfter)} //nolint:gosec // Seconds of a test.
		}
		x.answer.Header().Set("Content-Type", "application/json")
		x.answer.WriteHeader(status)
		_ = json.NewEncoder(x.answer).Encode(body) // the client may be gone
	}
}

// Hang never answers: until the rule ends, or the client gives up.
func Hang(x *Exchange) {
	x.wait(context.Background())
	x.Reset()
}

// ResetBefore cuts the connection before the server has seen the request.
func ResetBefore(x *Exchange) { x.Reset() }

// ResetAfter cuts the connection when the server has acted on the request: on a
// watch, whose answer ends when the watch does, when it has begun to answer.
func ResetAfter(x *Exchange) {
	if response, err := x.forward(); err == nil {
		if x.Request.Verb != "watch" {
			_, _ = io.Copy(io.Discard, response.Body)
		}
		response.Body.Close()
	}
	x.Reset()
}

// Swallow lets the server answer, and keeps every word of it from the client,
// until the rule ends: a watch that is open on both sides and tells nothing.
func Swallow(x *Exchange) {
	x.answered(func(response *http.Response) {
		x.answer.WriteHeader(response.StatusCode)
		x.flush()
		x.wait(context.Background())
		x.Reset()
	})
}

// Slow lets a request through after a while.
func Slow(after time.Duration) Fault {
	return func(x *Exchange) {
		ctx, cancel := context.WithTimeout(context.Background(), after)
		defer cancel()
		x.wait(ctx)
		x.Pass()
	}
}

// Truncate lets the server act, and cuts the connection in the middle of the
// answer; of a watch, whose answer has no end, in the middle of what comes first.
func Truncate(x *Exchange) {
	x.answered(func(response *http.Response) {
		if x.Request.Verb == "watch" {
			x.truncateWatch(response)
			return
		}
		body, _ := io.ReadAll(response.Body)
		x.answer.Header().Set("Content-Length", strconv.Itoa(len(body)))
		x.answer.WriteHeader(response.StatusCode)
		_, _ = x.answer.Write(body[:len(body)/2])
		x.flush()
		x.Reset()
	})
}

// truncateWatch waits for the first event at most until the rule ends.
func (x *Exchange) truncateWatch(response *http.Response) {
	go func() {
		x.wait(context.Background())
		response.Body.Close()
	}()
	x.answer.WriteHeader(response.StatusCode)
	x.flush()
	body := make([]byte, 1<<10)
	n, _ := response.Body.Read(body)
	_, _ = x.answer.Write(body[:n/2])
	x.flush()
	x.Reset()
}

// Late passes on every event of a watch after a while, until the rule ends.
func Late(by time.Duration) Fault {
	return func(x *Exchange) {
		x.pass(func() {
			ctx, cancel := context.WithTimeout(context.Background(), by)
			defer cancel()
			x.wait(ctx)
		})
	}
}

// Stale answers lists with what the server had when Stale was made: of all
// kinds that are watched through the proxy at that moment. Watches have to
// begin with such a list, and go on from there.
func (p *Proxy) Stale(ctx context.Context) (Fault, error) {
	copies := map[string]copied{}
	for _, address := range p.watched() {
		query := address.Query()
		for _, key := range []string{"watch", "sendInitialEvents", "resourceVersion", "resourceVersionMatch", "allowWatchBookmarks", "timeoutSeconds", "timeout"} {
			query.Del(key)
		}
		address.RawQuery = query.Encode()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.upstream.String()+address.RequestURI(), http.NoBody)
		if err != nil {
			return nil, fmt.Errorf("copying the list %s: %w", address, err)
		}
		request.Header.Set("Accept", "application/json")
		response, err := p.transport.RoundTrip(request)
		if err != nil {
			return nil, fmt.Errorf("copying the list %s: %w", address, err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("copying the list %s: %w", address, err)
		}
		copies[listed(address)] = copied{response, body}
	}
	return func(x *Exchange) {
		was, known := copies[listed(x.r.URL)]
		switch {
		case x.Request.Initial:
			Answer(http.StatusUnprocessableEntity, 0)(x) // as of a server that streams no lists
		case known && x.Request.Verb == "list":
			copyHeader(x.answer.Header(), was.response.Header)
			x.answer.Header().Del("Content-Length")
			x.answer.WriteHeader(was.response.StatusCode)
			_, _ = io.Copy(x.answer, bytes.NewReader(was.body))
		default:
			x.Pass()
		}
	}, nil
}

// listed tells lists of one kind apart by what they select.
func listed(address *url.URL) string {
	query := address.Query()
	return address.Path + "?" + query.Get("fieldSelector") + "&" + query.Get("labelSelector")
}

type copied struct {
	response *http.Response
	body     []byte
}
