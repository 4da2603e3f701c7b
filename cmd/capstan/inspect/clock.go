package inspect

import (
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// ServerClock is the time of the API server, as its last answer says it: clocks of people's machines go wrong. A nil one is the
// clock of this machine.
type ServerClock struct {
	mu sync.Mutex
	at time.Time
}

// Hears is a connection whose answers the clock hears.
func (s *ServerClock) Hears(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			answer, err := next.RoundTrip(r)
			if err == nil {
				s.hear(answer.Header.Get("Date"))
			}
			return answer, err
		})
	})
	return config
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func (s *ServerClock) hear(date string) {
	if at, err := http.ParseTime(date); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.at = at.UTC()
	}
}

// Now is what the last answer says. It is an error if none says what time it is.
func (s *ServerClock) Now() (time.Time, error) {
	if s == nil {
		return time.Now(), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at.IsZero() {
		return time.Time{}, &Error{What: "the API server does not say what time it is", Next: "look for a proxy that takes the header Date away"}
	}
	return s.at, nil
}
