package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
)

// Acts end by the cluster's time: a plan by that of a workstation would foresee an act that is over, or miss one.
func TestServerTime_is_that_of_the_API_server(t *testing.T) {
	const ahead = 100 * time.Hour
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(ahead).UTC().Format(http.TimeFormat))
	}))
	defer server.Close()
	heard := &inspect.ServerClock{}
	client, err := rest.HTTPClientFor(heard.Hears(&rest.Config{Host: server.URL}))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if off := time.Until(serverTime{heard: heard}.Now()) - ahead; off.Abs() > 2*time.Second {
		t.Errorf("it is %s off", off)
	}
}
