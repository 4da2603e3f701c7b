package apiproxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// guarded is a server that asks for a token, which it has written.
func guarded(t *testing.T) (server *Server, token string) {
	t.Helper()
	server = protected(t, filepath.Join(t.TempDir(), "kubeconfig"), answers("application/json", "{}"))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return server, server.proxy.token
}

// dialed is a connection on which something was said.
func dialed(t *testing.T, address, says string) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err == nil {
		_, err = io.WriteString(conn, says)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// answered reads an answer.
func answered(t *testing.T, conn net.Conn, read *bufio.Reader, want int) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	answer, err := http.ReadResponse(read, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != want {
		t.Fatalf("%s, not %d; %v", answer.Status, want, err)
	}
}

// Any container of the pod reaches the port, and has no token: it must not take the memory of the proxy, or keep the component out.
func TestServer_holds_few_connections_without_the_token_and_closes_none_with_it(t *testing.T) {
	server, token := guarded(t)
	asks := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", machines, token)
	known := dialed(t, server.Address(), asks)
	read := bufio.NewReader(known)
	answered(t, known, read, http.StatusOK)
	var silent []net.Conn
	for range 2 * strangersLimit {
		silent = append(silent, dialed(t, server.Address(), "GET "))
	}
	fresh := dialed(t, server.Address(), asks)
	answered(t, fresh, bufio.NewReader(fresh), http.StatusOK)
	for i, conn := range silent[:strangersLimit-1] {
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("connection %d is kept: %v", i, err)
		}
	}
	if _, err := io.WriteString(known, asks); err != nil {
		t.Fatal(err)
	}
	answered(t, known, read, http.StatusOK)
}

// The library reads the body of who is turned away first, for as long as that takes.
func TestServer_waits_for_no_body_of_who_has_no_token(t *testing.T) {
	server, _ := guarded(t)
	conn := dialed(t, server.Address(), "POST "+machines+" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	text, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("%v after %q", err, text)
	}
	if len(text) == 0 {
		t.Error("it is closed without a word")
	}
}

// Who opens hundreds of connections and says nothing must not keep a client waiting that has the token.
func TestServer_answers_a_new_client_soon_behind_many_strangers(t *testing.T) {
	server, token := guarded(t)
	for range 5 * strangersLimit {
		dialed(t, server.Address(), "GET ")
	}
	began := time.Now()
	fresh := dialed(t, server.Address(), fmt.Sprintf("GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", machines, token))
	answered(t, fresh, bufio.NewReader(fresh), http.StatusOK)
	// Were all for whom there is no room waited for one after the other, it would take 25 s.
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it is answered after %s", took)
	}
}

// A client in the same process has no token to show.
func TestProxy_Within_serves_more_at_once_than_there_may_be_strangers(t *testing.T) {
	const count = strangersLimit + 16
	var asked atomic.Int32
	all := make(chan struct{})
	proxy, _ := front(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == count {
			close(all)
		}
		select {
		case <-all:
		case <-r.Context().Done(): // a client that was cut off
		case <-t.Context().Done():
		}
		answers("application/json", "{}")(w, r)
	})
	proxy.allowances.reads = newAllowance(count, count)
	client := &http.Client{Transport: proxy.Within()}
	var group sync.WaitGroup
	for range count {
		group.Go(func() {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, WithinHost+machines, http.NoBody)
			if err != nil {
				t.Error(err)
				return
			}
			answer, err := client.Do(request)
			if err != nil {
				t.Error(err)
				return
			}
			_ = answer.Body.Close()
		})
	}
	group.Wait()
}

// A connection whose first request is refused for what it asks is a client's all the same.
func TestServer_knows_who_has_the_token_whatever_is_asked(t *testing.T) {
	server, token := guarded(t)
	asks := func(path string) string {
		return fmt.Sprintf("GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", path, token)
	}
	known := dialed(t, server.Address(), asks(machines+"?limit=%zz"))
	read := bufio.NewReader(known)
	answered(t, known, read, http.StatusBadRequest)
	for range 2 * strangersLimit {
		dialed(t, server.Address(), "GET ")
	}
	fresh := dialed(t, server.Address(), asks(machines))
	answered(t, fresh, bufio.NewReader(fresh), http.StatusOK) // all that came before it are known to the server
	if _, err := io.WriteString(known, asks(machines)); err != nil {
		t.Fatal(err)
	}
	answered(t, known, read, http.StatusOK)
}
