package apiproxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// raw sends a request as it is written, and reads the connection to its end.
func raw(t *testing.T, address, request string) string {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

// Of an answer by HTTP/1.0 nobody knows whether it is whole.
func TestProxy_refuses_a_protocol_whose_answers_end_with_the_connection(t *testing.T) {
	_, shown := front(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the server is asked for %s", r.URL) })
	answer := raw(t, shown.Listener.Addr().String(), "GET "+machines+" HTTP/1.0\r\nHost: localhost\r\n\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.0 505 ") || !strings.Contains(answer, "use HTTP/1.1") {
		t.Errorf("%q", answer)
	}
}

func TestProxy_passes_no_trailers_and_no_headers_before_an_answer(t *testing.T) {
	var trailer http.Header
	_, shown := front(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		trailer = r.Trailer
		w.Header().Set("Trailer", "X-After")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Before", private)
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("X-Before")
		_, _ = io.WriteString(w, "{}")
		w.Header().Set("X-After", private)
		w.Header().Set(http.TrailerPrefix+"X-Unannounced", private)
	})
	answer := raw(t, shown.Listener.Addr().String(), "POST "+machines+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"+
		"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nTrailer: X-Remote-User\r\n\r\n2\r\n{}\r\n0\r\nX-Remote-User: root\r\n\r\n")
	if len(trailer) > 0 {
		t.Errorf("the server has the trailers %v", trailer)
	}
	response, err := http.ReadResponse(bufio.NewReader(strings.NewReader(answer)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || string(body) != "{}" || len(response.Trailer) > 0 || strings.Contains(answer, private) {
		t.Errorf("the client has %q, %v", answer, err)
	}
}

// What the library takes for harmless to send twice is a write for the server.
func TestProxy_sends_no_write_again_that_the_server_may_have_acted_upon(t *testing.T) {
	for _, path := range []string{machines, "/other"} {
		var asked atomic.Int32
		_, shown := front(t, func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1); r.Method == http.MethodGet {
				answers("application/json", "{}")(w, r)
				return
			}
			panic(http.ErrAbortHandler)
		})
		if response, _, err := (sent{http.MethodGet, path, "", nil}).to(t, shown); err != nil || response.code != http.StatusOK {
			t.Fatal(response, err)
		}
		marked := http.Header{"Idempotency-Key": {"a"}, "X-Idempotency-Key": {"a"}}
		response, body, err := sent{http.MethodDelete, path, "", marked}.to(t, shown)
		if err != nil || response.code != http.StatusBadGateway || !strings.Contains(body, "acted upon") || asked.Load() != 2 {
			t.Errorf("%s: %d requests came, the client has %d %s %v", path, asked.Load(), response.code, body, err)
		}
	}
}
