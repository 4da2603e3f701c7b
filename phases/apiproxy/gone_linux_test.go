package apiproxy

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// unacknowledged is how long the kernel waits for the other side of a connection, in milliseconds; 0 is its own bound.
func unacknowledged(t *testing.T, conn net.Conn) (timeout int) {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) { timeout, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT) })
	if err != nil {
		t.Fatal(err)
	}
	return timeout
}

// watched tells of each connection of a server.
type watched struct {
	net.Listener
	conns chan net.Conn
}

func (w watched) Accept() (net.Conn, error) {
	conn, err := w.Listener.Accept()
	if err == nil {
		w.conns <- conn
	}
	return conn, err
}

// A client whose network is gone must not keep a document, and its place, for as long as the kernel would.
func TestProxy_waits_for_a_client_that_acknowledges_nothing_only_while_a_document_is_sent(t *testing.T) {
	for path, want := range map[string]int{machines: 30_000, machines + "?watch=1": 0, "/api/v1/namespaces/n/pods/p/log": 0} {
		t.Run(path, func(t *testing.T) {
			let := make(chan struct{})
			piece := `{"type":"ADDED","object":{"text":"` + strings.Repeat("x", 3*gatherLimit) + `"}}` + "\n"
			if want > 0 {
				piece = `{"items":[{"text":"` + strings.Repeat("x", 5*gatherLimit) + `"}`
			}
			proxy, shown := front(t, func(w http.ResponseWriter, r *http.Request) {
				answers("application/json", piece)(w, r)
				_ = http.NewResponseController(w).Flush()
				<-let
				if want > 0 {
					_, _ = io.WriteString(w, "]}")
				}
			})
			shown.Close()
			conns := make(chan net.Conn, 1)
			listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			server := (&Server{proxy: proxy}).apiServer()
			done := make(chan struct{})
			server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(done)
				proxy.ServeHTTP(w, r)
			})
			go func() { _ = server.Serve(gatheringListener{watched{listener, conns}}) }()
			t.Cleanup(func() { _ = server.Close() })
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String()+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			conn := <-conns
			if _, err := io.ReadFull(response.Body, make([]byte, 2*gatherLimit)); err != nil {
				t.Fatal(err)
			}
			if got := unacknowledged(t, conn); got != want {
				t.Errorf("while the answer is sent it is %d", got)
			}
			close(let)
			if want == 0 {
				return
			}
			if _, err := io.Copy(io.Discard, response.Body); err != nil {
				t.Fatal(err)
			}
			<-done
			if got := unacknowledged(t, conn); got != 0 {
				t.Errorf("afterwards it is %d", got)
			}
		})
	}
}
