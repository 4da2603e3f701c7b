package transport

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestPrompt_bounds_what_an_answer_asks_to_wait(t *testing.T) {
	soon := time.Now().Add(time.Hour).Format(http.TimeFormat)
	for _, row := range []struct {
		status      int
		after, want string
	}{
		{http.StatusTooManyRequests, "1", "1"},
		{http.StatusTooManyRequests, "0", "0"},
		{http.StatusTooManyRequests, "86400", "1"},
		{http.StatusServiceUnavailable, "30", "1"},
		{http.StatusServiceUnavailable, soon, "1"},
		{http.StatusServiceUnavailable, "", ""},
		{http.StatusInternalServerError, "1", ""},
		{http.StatusBadGateway, "86400", ""},
		{http.StatusGatewayTimeout, soon, ""},
	} {
		response, err := Prompt(answering{row.status, row.after}).RoundTrip(httptest.NewRequest(http.MethodGet, "/x", http.NoBody))
		if err != nil {
			t.Fatal(err)
		}
		if got := response.Header.Get("Retry-After"); got != row.want {
			t.Errorf("%d with %q: %q, want %q", row.status, row.after, got, row.want)
		}
		_ = response.Body.Close()
	}
}

type answering struct {
	status int
	after  string
}

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	response := &http.Response{StatusCode: a.status, Header: http.Header{}, Body: http.NoBody}
	if a.after != "" {
		response.Header.Set("Retry-After", a.after)
	}
	return response, nil
}
