package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

func TestFront_gives_the_token_to_who_asks_by_a_bare_transport(t *testing.T) {
	var said string
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		said = r.Header.Get("Authorization")
		if _, token, is := r.BasicAuth(); is {
			said = token
		}
	}))
	t.Cleanup(proxy.Close)
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword("capi-proxy", "secret")
	handler, err := newFront(address.String())
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(handler)
	t.Cleanup(front.Close)
	for given, want := range map[string]string{"": "secret", "Bearer of somebody": "Bearer of somebody"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, front.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if given != "" {
			request.Header.Set("Authorization", given)
		}
		answer, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if said != want {
			t.Errorf("who says %q of itself is %q for the proxy, not %q", given, said, want)
		}
	}
}
