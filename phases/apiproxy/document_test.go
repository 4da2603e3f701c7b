package apiproxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// inPieces answers by writes that are sent at once, so that no length is told.
func inPieces(pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for _, piece := range pieces {
			_, _ = io.WriteString(w, piece)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

func TestProxy_tells_the_length_of_a_short_answer_and_passes_on_a_long_one_as_it_comes(t *testing.T) {
	item := `{"apiVersion":"` + private + `/v1beta2","text":"` + strings.Repeat("x", 4000) + `"}`
	for name, row := range map[string]struct {
		items  int
		length bool
	}{"short": {1, true}, "long": {100, false}} {
		t.Run(name, func(t *testing.T) {
			items := strings.TrimSuffix(strings.Repeat(item+",", row.items), ",")
			_, shown := front(t, inPieces(`{"items":[`, items, `]}`))
			response, body, err := sent{http.MethodGet, machines, "", nil}.to(t, shown)
			if want := `{"items":[` + strings.ReplaceAll(items, private, standard) + `]}`; err != nil || body != want {
				t.Errorf("the client has %.200q, %v", body, err)
			}
			if told := response.length == int64(len(body)); told != row.length {
				t.Errorf("a length of %d is told", response.length)
			}
		})
	}
}

func TestProxy_answers_for_a_short_answer_that_is_cut_off_and_breaks_off_a_long_one(t *testing.T) {
	for length, answered := range map[int]bool{100: true, 200 << 10: false} {
		_, shown := front(t, inPieces(`{"text":"`, strings.Repeat("x", length)))
		response, body, err := sent{http.MethodGet, machines + "/m", "", nil}.to(t, shown)
		if answered != (err == nil && response.code == http.StatusBadGateway) || !answered && err == nil {
			t.Errorf("%d bytes: %d %.100q %v", length, response.code, body, err)
		}
	}
}

func TestProxy_passes_on_at_once_what_it_does_not_read_whether_its_length_is_told_or_not(t *testing.T) {
	for _, length := range []string{"", "2"} {
		seen := make(chan struct{})
		_, shown := front(t, func(w http.ResponseWriter, r *http.Request) {
			if length != "" {
				w.Header().Set("Content-Length", length)
			}
			_, _ = io.WriteString(w, "a")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-seen:
			case <-r.Context().Done():
			}
			_, _ = io.WriteString(w, "b")
		})
		ctx, end := context.WithTimeout(t.Context(), 10*time.Second)
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, shown.URL+"/api/v1/namespaces/n/pods/p/log", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 1)
		if _, err := io.ReadFull(response.Body, first); err != nil {
			t.Errorf("length %q: %v", length, err)
		}
		close(seen)
		rest, err := io.ReadAll(response.Body)
		if all := string(first) + string(rest); err != nil || all != "ab" || length != "" && response.ContentLength != 2 {
			t.Errorf("length %q: %q of %d, %v", length, all, response.ContentLength, err)
		}
		_ = response.Body.Close()
		end()
	}
}

// A header that comes by itself wakes the server, which then has to be woken again for the body.
func TestProxy_sends_a_held_body_together_with_its_header(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	first := make(chan string, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		piece := make([]byte, 4<<10)
		n, _ := conn.Read(piece)
		first <- string(piece[:n])
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
	}()
	_, shown := frontOf(t, &rest.Config{Host: "http://" + listener.Addr().String()})
	if _, _, err := (sent{http.MethodPost, machines, `{"a":1}`, asJSON()}).to(t, shown); err != nil {
		t.Fatal(err)
	}
	if got := <-first; !strings.HasSuffix(got, "\r\n\r\n"+`{"a":1}`) {
		t.Errorf("the server has read %q at first", got)
	}
}
