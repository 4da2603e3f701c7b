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

// dial connects and says something.
func (s *Server) dial(t *testing.T, says string) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Address())
	if err == nil {
		_, err = io.WriteString(conn, says)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// Any container of the pod reaches the port, and has no token: it must not take the memory of the proxy, or keep the component out.
func TestServer_holds_few_connections_without_the_token_and_closes_none_with_it(t *testing.T) {
	server, token := guarded(t)
	asks := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", machines, token)
	answered := func(conn net.Conn, read *bufio.Reader) {
		t.Helper()
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		answer, err := http.ReadResponse(read, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.Body.Close() != nil || answer.StatusCode != http.StatusOK {
			t.Fatal(answer.Status, err)
		}
	}
	known := server.dial(t, asks)
	read := bufio.NewReader(known)
	answered(known, read)
	var silent []net.Conn
	for range 2 * strangersLimit {
		silent = append(silent, server.dial(t, "GET "))
	}
	fresh := server.dial(t, asks)
	answered(fresh, bufio.NewReader(fresh))
	for i, conn := range silent[:strangersLimit-1] {
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("connection %d is kept: %v", i, err)
		}
	}
	if _, err := io.WriteString(known, asks); err != nil {
		t.Fatal(err)
	}
	answered(known, read)
}

// The library reads the body of who is turned away first, for as long as that takes.
func TestServer_waits_for_no_body_of_who_has_no_token(t *testing.T) {
	server, _ := guarded(t)
	conn := server.dial(t, "POST "+machines+" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	text, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("%v after %q", err, text)
	}
	if len(text) == 0 {
		t.Error("it is closed without a word")
	}
}
