package conversion_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/capstan-capi/capstan/phases/conversion"
)

// listening is a shim behind a connection, which has real deadlines.
func listening(t *testing.T) *httptest.Server {
	t.Helper()
	routes, err := conversion.ReadRoutes("", logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	shim, err := conversion.New(upgrade(t, ""), routes, clock.RealClock{}, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(shim.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	return server
}

// silent opens a connection that begins a review and never goes on with it.
func silent(t *testing.T, server *httptest.Server, header string) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	// The server has begun to read the body when it answers this.
	fmt.Fprintf(conn, "POST /convert HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n%s\r\n\r\n", header)
	answer := make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))
	if _, err := io.ReadFull(conn, answer); err != nil || !strings.Contains(string(answer), "100 Continue") {
		t.Fatalf("got %q: %v", answer, err)
	}
	return conn
}

func TestShim_answers_others_while_clients_say_nothing_and_gives_those_up(t *testing.T) {
	server := listening(t)
	conn := silent(t, server, "Transfer-Encoding: chunked")
	silent(t, server, "Content-Length: 134217728")
	text, err := json.Marshal(conversionOf(private+"/v1beta2", machine(private, "v1beta1", 1)))
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/convert", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("answered %d %s: %v", response.StatusCode, body, err)
	}
	if told, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(told), "HTTP/1.1 400") {
		t.Errorf("who said nothing got %q: %v", told, err)
	}
}

func TestShim_reads_no_review_that_is_too_large(t *testing.T) {
	s := serve(t, noConverter(t))
	for name, length := range map[string]int64{"that says so": 128<<20 + 1, "that does not": -1} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/convert", io.LimitReader(zeros{}, 128<<20+1))
		request.ContentLength = length
		recorder := httptest.NewRecorder()
		s.http.ServeHTTP(recorder, request)
		if recorder.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("one %s is answered %d %s", name, recorder.Code, recorder.Body)
		}
	}
}

// zeros never end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
