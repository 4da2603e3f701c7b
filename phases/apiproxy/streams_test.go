package apiproxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

const exec = "/api/v1/namespaces/n/pods/p/exec?command=cat"

// upgraded opens a stream through the proxy, by hand.
func upgraded(t *testing.T, shown *httptest.Server, path, protocol, more string) (net.Conn, *bufio.Reader, int) {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", shown.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_, err = io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: "+protocol+"\r\n"+more+"\r\n")
	if err != nil {
		t.Fatal(err)
	}
	from := bufio.NewReader(conn)
	response, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil && response.StatusCode != http.StatusSwitchingProtocols {
		t.Error(err)
	}
	return conn, from, response.StatusCode
}

func TestProxy_passes_streams_on_byte_for_byte(t *testing.T) {
	var got http.Header
	_, shown := front(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		conn, both, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n")
		_, _ = io.Copy(conn, both)
	})
	more := "Authorization: Bearer stolen\r\nX-Forwarded-For: 1.2.3.4\r\nSec-WebSocket-Protocol: v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.c3RvbGVu\r\n"
	conn, from, code := upgraded(t, shown, exec, "SPDY/3.1", more)
	if code != http.StatusSwitchingProtocols {
		t.Fatal(code)
	}
	text := []byte(strings.Repeat(`{"apiVersion":"`+standard+`/v1beta2"}`+"\x00\xff", 5000))
	go func() { _, _ = conn.Write(text) }()
	back := make([]byte, len(text))
	if _, err := io.ReadFull(from, back); err != nil || !bytes.Equal(back, text) {
		t.Fatalf("it is not what was sent: %v", err)
	}
	if got.Get("Authorization") != "Bearer the-pods-own" || got.Get("X-Forwarded-For") != "" || got.Get("Sec-Websocket-Protocol") != "v5.channel.k8s.io" {
		t.Errorf("the server has %v", got)
	}
}

func TestProxy_passes_on_why_a_stream_is_refused(t *testing.T) {
	_, shown := front(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	if _, _, code := upgraded(t, shown, exec, "websocket", "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"); code != http.StatusForbidden {
		t.Error(code)
	}
}

func TestProxy_ends_a_stream_upstream_that_is_not_answered_when_the_client_is_gone(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	_, shown := front(t, func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
		close(ended)
	})
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", shown.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(conn, "GET "+exec+" HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	_ = conn.Close()
	<-ended
}

// secure is a proxy in front of a server of HTTP/2, of whose answers the kernel holds little.
func secure(t *testing.T, handler http.HandlerFunc) secured {
	t.Helper()
	behind := httptest.NewUnstartedServer(handler)
	behind.EnableHTTP2 = true
	behind.Config.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		if err := conn.(*tls.Conn).NetConn().(*net.TCPConn).SetWriteBuffer(streamBuffer); err != nil {
			t.Error(err)
		}
		return ctx
	}
	behind.StartTLS()
	t.Cleanup(behind.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: behind.Certificate().Raw})
	proxy, shown := frontOf(t, &rest.Config{Host: behind.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}})
	return secured{proxy, shown}
}

type secured struct {
	*Proxy
	front *httptest.Server
}

func TestUpstream_has_the_server_wait_for_who_does_not_read(t *testing.T) {
	for name, want := range map[string]struct {
		by       func(*upstream) http.RoundTripper
		protocol string
		held     int
	}{
		"a watch":                  {func(u *upstream) http.RoundTripper { return u.streams }, "HTTP/2.0", streamBuffer},
		"a document":               {func(u *upstream) http.RoundTripper { return u.documents }, "HTTP/1.1", documentBuffer},
		"a document beside others": {func(u *upstream) http.RoundTripper { return u.crowds }, "HTTP/2.0", streamBuffer},
	} {
		t.Run(name, func(t *testing.T) {
			taken := make(chan int, 1)
			protocol := make(chan string, 1)
			shown := secure(t, func(w http.ResponseWriter, r *http.Request) {
				protocol <- r.Proto
				taken <- writeUntilBlocked(w)
			})
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, shown.upstream.base.String()+machines, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			response, err := want.by(shown.upstream).RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if used := <-protocol; used != want.protocol {
				t.Fatal(used)
			}
			if written := <-taken; written < streamBuffer || written > 4*want.held {
				t.Errorf("%d bytes were taken for a client that read nothing", written)
			}
		})
	}
}

// writeUntilBlocked writes until nobody takes it, and returns how much was taken.
func writeUntilBlocked(w http.ResponseWriter) (written int) {
	for piece := make([]byte, 16<<10); written < 8<<20; written += len(piece) {
		// It is blocked when it is not done by then.
		if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			break
		}
		if _, err := w.Write(piece); err != nil {
			break
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			break
		}
	}
	return written
}

func TestProxy_sends_a_small_body_again_that_the_server_has_not_taken(t *testing.T) {
	var count atomic.Int32
	shown := secure(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !bytes.Contains(body, []byte(private)) {
			t.Errorf("%q, %v", body, err)
		}
		count.Add(1)
		// The connection is to go: what was not begun on it is sent on another one.
		w.Header().Set("Connection", "close")
		answers("application/json", "{}")(w, r)
	})
	done := make(chan string, 20)
	for range cap(done) {
		go func() {
			response, body, err := sent{http.MethodPost, machines, `{"apiVersion":"` + standard + `/v1beta2","kind":"Machine"}`, asJSON()}.to(t, shown.front)
			switch {
			case err != nil:
				done <- err.Error()
			case response.code != http.StatusOK:
				done <- body
			default:
				done <- ""
			}
		}()
	}
	for range cap(done) {
		if wrong := <-done; wrong != "" {
			t.Error(wrong)
		}
	}
	if int(count.Load()) != cap(done) {
		t.Errorf("%d requests were acted upon, not %d", count.Load(), cap(done))
	}
}
