package apiproxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// One connection for each of many writes would have the server do more for each of them.
func TestProxy_has_writes_share_a_connection_that_are_under_way_together(t *testing.T) {
	const count = 16
	var mutex sync.Mutex
	by, protocols := map[string]int{}, map[string]int{}
	all := make(chan struct{})
	var asked atomic.Int32
	shown := secure(t, func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		by[r.RemoteAddr]++
		protocols[r.Method+" "+r.Proto]++
		mutex.Unlock()
		if asked.Add(1) == 2*count {
			close(all)
		}
		<-all
		answers("application/json", "{}")(w, r)
	})
	var group sync.WaitGroup
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		for range count {
			group.Go(func() {
				body := ""
				if method == http.MethodPost {
					body = "{}"
				}
				if response, _, err := (sent{method, machines, body, asJSON()}).to(t, shown.front); err != nil || response.code != http.StatusOK {
					t.Error(response, err)
				}
			})
		}
	}
	group.Wait()
	if protocols["POST HTTP/2.0"] < count-fewWrites || protocols["GET HTTP/1.1"] != count {
		t.Errorf("they came by %v", protocols)
	}
	// Reads have one each, and so has a write that came first; the others may have dialled more than once before they could share.
	most := 0
	for _, requests := range by {
		most = max(most, requests)
	}
	if most < count/2 {
		t.Errorf("no connection had more than %d requests: %v", most, by)
	}
}

// A body that is still coming may be answered before its end, which HTTP/1.1 alone gives to the client here; and that says nothing of what
// the server speaks.
func TestProxy_has_a_large_body_come_by_a_connection_of_its_own_beside_others(t *testing.T) {
	var mutex sync.Mutex
	protocols := map[string]int{}
	first, let := make(chan struct{}), make(chan struct{})
	shown := secure(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			close(first)
			<-let
		}
		_, _ = io.Copy(io.Discard, r.Body)
		mutex.Lock()
		protocols[r.Method+" "+r.Proto]++
		mutex.Unlock()
		answers("application/json", "{}")(w, r)
	})
	var group sync.WaitGroup
	group.Go(func() { _, _, _ = sent{http.MethodDelete, machines + "/m?dryRun=All", "", nil}.to(t, shown.front) })
	<-first
	large := `{"text":"` + strings.Repeat("x", 2*smallBody) + `"}`
	for _, one := range []sent{{http.MethodPost, machines, large, asJSON()}, {http.MethodPut, machines + "/m", "{}", asJSON()}} {
		if response, _, err := one.to(t, shown.front); err != nil || response.code != http.StatusOK {
			t.Error(response, err)
		}
	}
	close(let)
	group.Wait()
	if protocols["POST HTTP/1.1"] != 1 || protocols["PUT HTTP/2.0"] != 1 {
		t.Errorf("they came by %v", protocols)
	}
}

// dropping is a way to a server that drops everything once it is told to, as a network does.
func dropping(t *testing.T, to string) (address string, drop func()) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	var dropped atomic.Int64 // of the connections that were accepted so far
	var accepted atomic.Int64
	pass := func(from, to net.Conn, number int64) {
		for piece := make([]byte, 4<<10); ; {
			n, err := from.Read(piece)
			if err != nil {
				return
			}
			if number > dropped.Load() {
				_, _ = to.Write(piece[:n])
			}
		}
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := new(net.Dialer).DialContext(context.Background(), "tcp", to)
			if err != nil {
				t.Error(err)
				return
			}
			number := accepted.Add(1)
			t.Cleanup(func() { _, _ = client.Close(), server.Close() })
			go pass(client, server, number)
			go pass(server, client, number)
		}
	}()
	return listener.Addr().String(), func() { dropped.Store(accepted.Load()) }
}

// Every write that is under way beside others would wait for a server that has gone without a word.
func TestUpstream_gives_up_the_connection_of_crowds_whose_server_says_nothing(t *testing.T) {
	behind := httptest.NewUnstartedServer(answers("application/json", "{}"))
	behind.EnableHTTP2 = true
	behind.StartTLS()
	t.Cleanup(behind.Close)
	address, drop := dropping(t, strings.TrimPrefix(behind.URL, "https://"))
	crowds, err := crowdTransport(&rest.Config{Host: "https://" + address, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, 300*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	write := func() error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+address+machines, bytes.NewReader([]byte("{}")))
		if err != nil {
			t.Fatal(err)
		}
		response, err := crowds.RoundTrip(request)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, response.Body)
		return errors.Join(err, response.Body.Close())
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
	drop()
	if err := write(); err == nil {
		t.Error("what was dropped was answered")
	}
	if err := write(); err != nil {
		t.Errorf("the next one fails, too: %v", err)
	}
}
