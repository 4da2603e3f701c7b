package apiproxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestServer_says_at_once_that_an_address_cannot_be_had(t *testing.T) {
	proxy, _ := front(t, http.NotFound)
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, addresses := range [][2]string{
		{taken.Addr().String(), ""}, {"127.0.0.1:0", taken.Addr().String()}, {":8080", ""}, {"0.0.0.0:0", ""}, {"nonsense", ""},
	} {
		if server, err := Listen(t.Context(), proxy, prometheus.NewRegistry(), addresses[0], addresses[1]); err == nil {
			t.Errorf("%v: it listens on %s", addresses, server.Address())
		}
	}
}

func TestServer_is_ready_once_the_server_was_and_drains(t *testing.T) {
	begun, let := make(chan struct{}), make(chan struct{})
	proxy, _ := front(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/apis") {
			close(begun)
			<-let
			answers("application/json", "{}")(w, r)
		}
	})
	registry := prometheus.NewRegistry()
	registry.MustRegister(proxy.metrics.requests)
	ctx, stop := context.WithCancel(t.Context())
	server, err := Listen(ctx, proxy, registry, "127.0.0.1:0", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	health := "http://" + server.HealthAddress()
	for deadline := time.Now().Add(time.Minute); ; {
		if code, _ := get(t, health+"/readyz"); code == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it never becomes ready")
		}
	}
	if code, _ := get(t, health+"/healthz"); code != http.StatusOK {
		t.Error("it is not healthy")
	}
	answer := make(chan int, 1)
	go func() {
		code, _ := get(t, "http://"+server.Address()+machines)
		answer <- code
	}()
	<-begun
	stop()
	close(let)
	if code := <-answer; code != http.StatusOK {
		t.Errorf("what was under way is answered %d", code)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestServer_counts_what_it_served(t *testing.T) {
	proxy, shown := front(t, answers("application/json", "{}"))
	registry := prometheus.NewRegistry()
	registry.MustRegister(proxy.metrics.requests)
	done := served(shown)
	if _, _, err := (sent{http.MethodGet, machines, "", nil}).to(t, shown); err != nil {
		t.Fatal(err)
	}
	<-done
	families, err := registry.Gather()
	if err != nil || len(families) != 1 || families[0].GetName() != "hypershift_api_proxy_requests_total" {
		t.Fatalf("%v %v", families, err)
	}
	labels := families[0].GetMetric()[0].GetLabel()
	if labels[0].GetValue() != "mapped" || labels[1].GetValue() != "200" || labels[2].GetValue() != "list" {
		t.Errorf("%v", labels)
	}
}

// The port of health is open to the whole cluster: connections that are silent, or nobody closes, must not take the process's memory.
func TestServer_bounds_the_connections_for_health(t *testing.T) {
	proxy, _ := front(t, http.NotFound)
	server, err := Listen(t.Context(), proxy, prometheus.NewRegistry(), "127.0.0.1:0", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.api.Close()
	health := server.healthServer()
	go func() { _ = health.Serve(server.health) }()
	t.Cleanup(func() { _ = health.Close() })
	var silent []net.Conn
	for _, says := range []string{"", "GET /healthz HTTP/1.1\r\n"} {
		for range 2 * healthLimit {
			silent = append(silent, dialed(t, server.HealthAddress(), says))
		}
		// While those that were closed are still there, a new one is closed, too: on a busy machine not only the first.
		for began := time.Now(); ; {
			code, body := get(t, "http://"+server.HealthAddress()+"/healthz")
			if code == http.StatusOK {
				break
			}
			if time.Since(began) > healthTimeout/2 {
				t.Fatalf("after %s somebody new is answered %d %s", time.Since(began), code, body)
			}
		}
	}
	for i, conn := range silent[:healthLimit] {
		_ = conn.SetReadDeadline(time.Now().Add(healthTimeout / 2))
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("connection %d is kept open: %v", i, err)
		}
	}
	for name, timeout := range map[string]time.Duration{
		"a request": server.healthServer().ReadTimeout, "an answer": server.healthServer().WriteTimeout, "the next request": server.healthServer().IdleTimeout,
	} {
		if timeout != healthTimeout {
			t.Errorf("%s may take %s", name, timeout)
		}
	}
}

func TestServer_lets_a_watch_go_on_while_it_is_being_ended(t *testing.T) {
	let := make(chan struct{})
	proxy, _ := front(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-let
		answers("application/json", `{"type":"ADDED","object":{}}`)(w, r)
	})
	ctx, stop := context.WithCancel(t.Context())
	server, err := Listen(ctx, proxy, prometheus.NewRegistry(), "127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.serve(ctx, server.api, server.apiServer(), "the API", proxy.streams.Wait) }()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+server.Address()+machines+"?watch=1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	stop()
	close(let)
	if events, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(events), "ADDED") {
		t.Errorf("the client has %q, %v", events, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
