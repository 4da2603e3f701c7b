package transport

import (
	"net/http"
	"strconv"
	"time"
)

// longestRetry is how long an answer may ask client-go to wait before it sends a request again, which it does up to ten
// times: with nothing to be heard meanwhile, whoever waits for the answer looks dead.
const longestRetry = time.Second

// Prompt is next with limits to what an answer can make client-go wait before it sends a request again: what is refused
// for now (429 or 503) may ask for a moment, and any other error is told at once. Whoever obeys Retry-After itself goes
// beneath it.
func Prompt(next http.RoundTripper) http.RoundTripper { return prompt{next} }

type prompt struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (p prompt) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := p.next.RoundTrip(request)
	if err != nil || response.Header.Get("Retry-After") == "" {
		return response, err
	}
	switch seconds, wrong := strconv.Atoi(response.Header.Get("Retry-After")); {
	case response.StatusCode != http.StatusTooManyRequests && response.StatusCode != http.StatusServiceUnavailable:
		response.Header.Del("Retry-After")
	case wrong != nil || seconds > int(longestRetry.Seconds()):
		response.Header.Set("Retry-After", strconv.Itoa(int(longestRetry.Seconds())))
	}
	return response, nil
}
