package apiproxy

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// connected is the other end of a connection, and what comes of each write to it.
func connected(t *testing.T) (*gathering, <-chan string) {
	t.Helper()
	here, there := net.Pipe()
	t.Cleanup(func() { here.Close() })
	pieces := make(chan string, 64)
	go func() {
		defer close(pieces)
		buffer := make([]byte, 1<<20)
		for {
			n, err := there.Read(buffer)
			if err != nil {
				return
			}
			pieces <- string(buffer[:n])
		}
	}()
	return &gathering{Conn: here}, pieces
}

func write(t *testing.T, to io.Writer, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if n, err := io.WriteString(to, text); err != nil || n != len(text) {
			t.Fatal(n, err)
		}
	}
}

func TestGathering_sends_pieces_together(t *testing.T) {
	conn, pieces := connected(t)
	write(t, conn, "before")
	conn.gather()
	write(t, conn, "a", "b")
	if err := conn.send(); err != nil {
		t.Fatal(err)
	}
	write(t, conn, "c")
	if err := conn.end(); err != nil {
		t.Fatal(err)
	}
	write(t, conn, "after")
	for _, want := range []string{"before", "ab", "c", "after"} {
		if got := <-pieces; got != want {
			t.Errorf("%q is sent, not %q", got, want)
		}
	}
}

func TestGathering_holds_no_more_than_it_may(t *testing.T) {
	conn, pieces := connected(t)
	conn.gather()
	half, most := strings.Repeat("h", gatherLimit/2), strings.Repeat("m", gatherLimit)
	write(t, conn, half, half)
	if len(pieces) > 0 {
		t.Error("it sends what it has room for")
	}
	write(t, conn, most)
	if got := <-pieces + <-pieces; got != half+half+most || conn.holds() {
		t.Errorf("it sends %d bytes, and holds some: %t", len(got), conn.holds())
	}
}

// The library believes that what was gathered is sent: it would begin the next answer behind half of this one.
func TestGathering_ends_a_connection_that_what_was_gathered_cannot_be_sent_on(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	conn := &gathering{Conn: here}
	conn.gather()
	write(t, conn, "a")
	if err := conn.SetWriteDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if conn.end() == nil {
		t.Error("it sends to who does not read")
	}
	if _, err := there.Read(make([]byte, 1)); err == nil {
		t.Error("the connection goes on")
	}
}

func TestGathering_of_none_does_nothing(t *testing.T) {
	var none *gathering
	none.gather()
	if none.holds() || none.send() != nil || none.end() != nil {
		t.Error("it does something")
	}
}

func TestProxy_sends_an_answer_that_the_library_writes_in_pieces_as_one(t *testing.T) {
	text := strings.Repeat("text ", 2000)
	proxy, _ := front(t, answers("application/json", `{"text":"`+text+`"}`))
	conn, pieces := connected(t)
	server := (&Server{proxy: proxy}).apiServer()
	recorded := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(server.ConnContext(t.Context(), conn), http.MethodGet, "http://localhost"+machines, http.NoBody)
	proxy.ServeHTTP(piecemeal{recorded, conn}, request)
	if got := <-pieces; !strings.Contains(got, text) {
		t.Errorf("the first of what is sent has %d bytes", len(got))
	}
}

// piecemeal writes to a connection as the library does.
type piecemeal struct {
	*httptest.ResponseRecorder
	conn io.Writer
}

func (p piecemeal) Write(b []byte) (int, error) {
	for at := 0; at < len(b); at += 4096 {
		if _, err := p.conn.Write(b[at:min(len(b), at+4096)]); err != nil {
			return at, err
		}
	}
	return len(b), nil
}
