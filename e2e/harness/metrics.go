package harness

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
)

// FreeAddress is a loopback address on which nobody listens at the moment, for
// an operator's --metrics-bind-address.
func FreeAddress(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	return listener.Addr().String(), listener.Close()
}

// Metrics is what an operator that serves them on an address counts, in
// Prometheus's text format.
func Metrics(ctx context.Context, address string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", http.NoBody)
	if err != nil {
		return "", fmt.Errorf("asking for the operator's metrics: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", fmt.Errorf("asking for the operator's metrics: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return "", fmt.Errorf("reading the operator's metrics: %w", err)
	}
	return string(text), nil
}
