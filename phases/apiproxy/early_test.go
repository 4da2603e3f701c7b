package apiproxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"
)

// refusing is a server that reads so much of a request, says something, and closes.
func refusing(t *testing.T, secure bool, read int64, says string) (*rest.Config, *atomic.Int64) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config := &rest.Config{Host: "http://" + listener.Addr().String()}
	if secure {
		pattern := httptest.NewTLSServer(http.NotFoundHandler())
		pattern.Close()
		config.Host, config.Insecure = "https://"+listener.Addr().String(), true
		listener = tls.NewListener(listener, &tls.Config{Certificates: pattern.TLS.Certificates, MinVersion: tls.VersionTLS12})
	}
	t.Cleanup(func() { _ = listener.Close() })
	asked := new(atomic.Int64)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			if request, err := http.ReadRequest(bufio.NewReaderSize(conn, 512)); err == nil {
				_, _ = io.CopyN(io.Discard, request.Body, read)
			}
			_, _ = io.WriteString(conn, says)
			_ = conn.Close()
		}
	}()
	return config, asked
}

// A server that refuses a body before it has read it closes the connection, on which the proxy is still writing.
func TestProxy_gives_the_answer_of_a_server_that_closes_before_it_has_the_body(t *testing.T) {
	body := `{"apiVersion":"` + standard + `/v1beta2","kind":"Machine","spec":[` + strings.Repeat(`"x",`, 3<<18) + `"x"]}`
	says := `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Refused","code":%d}`
	for _, secure := range []bool{false, true} {
		for _, code := range []int{http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests} {
			t.Run(fmt.Sprintf("%d, with TLS %t", code, secure), func(t *testing.T) {
				want := fmt.Sprintf(says, code)
				config, asked := refusing(t, secure, 64<<10, fmt.Sprintf("HTTP/1.1 %d Refused\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", code, len(want), want))
				_, shown := frontOf(t, config)
				for try := range 10 {
					response, got, err := sent{http.MethodPost, machines, body, asJSON()}.to(t, shown)
					if err != nil || response.code != code || got != want {
						t.Fatalf("try %d: %d %s, %v", try, response.code, got, err)
					}
				}
				if asked.Load() != 10 {
					t.Errorf("the server is asked %d times", asked.Load())
				}
			})
		}
	}
}

func TestProxy_says_that_a_server_has_broken_off_that_closes_without_an_answer(t *testing.T) {
	config, asked := refusing(t, false, 64<<10, "")
	_, shown := frontOf(t, config)
	body := `{"apiVersion":"` + standard + `/v1beta2","kind":"Machine","spec":[` + strings.Repeat(`"x",`, 3<<18) + `"x"]}`
	response, got, err := sent{http.MethodPost, machines, body, asJSON()}.to(t, shown)
	if err != nil || response.code != http.StatusBadGateway || !strings.Contains(statusIn(t, got).Message, "may have been acted upon") {
		t.Fatalf("%d %s, %v", response.code, got, err)
	}
	if asked.Load() != 1 {
		t.Errorf("the server is asked %d times", asked.Load())
	}
}

// reset closes the connection of a server without a goodbye.
func reset(conn net.Conn) {
	tcp := conn.(*tls.Conn).NetConn().(*net.TCPConn)
	_ = tcp.SetLinger(0)
	_ = tcp.Close()
}

// The last word of TLS is written before a connection is closed, and cannot be on one that is reset: nobody waits for an answer then.
func TestProxy_does_not_wait_for_an_answer_on_a_connection_that_the_server_has_reset(t *testing.T) {
	type ofRequest struct{}
	conns := make(chan net.Conn, 10)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn := r.Context().Value(ofRequest{}).(net.Conn)
		if strings.HasSuffix(r.URL.Path, "/reset") {
			reset(conn)
			return
		}
		conns <- conn
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{}`)
	}))
	server.Config.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, ofRequest{}, conn)
	}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL}
	config.Insecure = true
	_, shown := frontOf(t, config)
	began := time.Now()
	for _, ask := range []struct {
		path string
		code int
	}{{machines + "/m", http.StatusOK}, {machines + "/m", http.StatusOK}, {machines + "/reset", http.StatusBadGateway}, {machines + "/m", http.StatusOK}} {
		response, got, err := sent{http.MethodGet, ask.path, "", nil}.to(t, shown)
		if err != nil || response.code != ask.code {
			t.Fatalf("%s: %d %s, %v", ask.path, response.code, got, err)
		}
		if ask.code == http.StatusOK {
			reset(<-conns)
		}
	}
	if took := time.Since(began); took >= answerAfter {
		t.Errorf("it took %s", took)
	}
}

func TestEarly_keeps_its_first_failure_until_the_connection_is_closed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		below := newSlow()
		conn := newEarly(below)
		gone := errors.New("it is gone")
		var failed error
		go func() { _, failed = io.WriteString(conn, "a") }()
		<-below.wrote
		below.let <- gone
		synctest.Wait()
		if failed != nil {
			t.Error("the library is told, and would not read the answer")
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if !errors.Is(failed, gone) {
			t.Error(failed)
		}
		if _, err := io.WriteString(conn, "b"); !errors.Is(err, gone) || len(below.wrote) > 0 {
			t.Errorf("more is sent: %v", err)
		}
	})
}

func TestEarly_tells_of_its_failure_when_nobody_closes_the_connection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		below := newSlow()
		conn := newEarly(below)
		gone := errors.New("it is gone")
		go func() {
			<-below.wrote
			below.let <- gone
		}()
		began := time.Now()
		if _, err := io.WriteString(conn, "a"); !errors.Is(err, gone) || time.Since(began) != answerAfter {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}
