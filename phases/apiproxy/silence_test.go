package apiproxy

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A server that has gone without a word has left every connection.
func TestProxy_takes_no_connection_for_a_document_that_is_older_than_a_silence(t *testing.T) {
	for reached := false; !reached; { // a busy machine may not bring the third to the server while the proxy waits for it
		reached = fourthAfterSilence(t)
	}
}

// fourthAfterSilence looks by which connection a request comes after two at once and one that is not answered. It says whether that one
// had come to the server.
func fourthAfterSilence(t *testing.T) bool {
	var mu sync.Mutex
	var used []string
	both := make(chan struct{})
	var came atomic.Int64
	proxy, shown := front(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		used = append(used, r.RemoteAddr)
		mu.Unlock()
		if r.URL.Query().Has("limit") {
			<-r.Context().Done()
			return
		}
		switch came.Add(1) {
		case 1:
			<-both
		case 2:
			close(both)
		}
		answers("application/json", `{"kind":"MachineList","items":[]}`)(w, r)
	})
	ask := func(path string, want int) {
		t.Helper()
		if response, _, err := (sent{http.MethodGet, path, "", nil}).to(t, shown); err != nil || response.code != want {
			t.Errorf("%s is answered %d, %v", path, response.code, err)
		}
	}
	var together sync.WaitGroup
	together.Go(func() { ask(machines, http.StatusOK) })
	together.Go(func() { ask(machines, http.StatusOK) })
	together.Wait()
	long := proxy.silence
	proxy.silence = 200 * time.Millisecond
	ask(machines+"?limit=1", http.StatusGatewayTimeout)
	proxy.silence = long
	mu.Lock()
	reached := len(used) == 3
	mu.Unlock()
	ask(machines, http.StatusOK)
	mu.Lock()
	defer mu.Unlock()
	if reached && (len(used) != 4 || slices.Contains(used[:3], used[3])) {
		t.Errorf("they came by %v", used)
	}
	return reached || t.Failed()
}

// Clients give up before the proxy does: each would be given another connection to a server that has gone without a word.
func TestProxy_takes_no_connection_for_a_document_that_is_older_than_a_client_that_gave_up(t *testing.T) {
	for name, row := range map[string]struct {
		doubt time.Duration
		other bool
	}{"after long": {0, true}, "soon": {time.Minute, false}} {
		t.Run(name, func(t *testing.T) {
			used, both, reached := make(chan string, 4), make(chan struct{}), make(chan struct{})
			var number atomic.Int64
			proxy, shown := front(t, func(w http.ResponseWriter, r *http.Request) {
				used <- r.RemoteAddr
				switch number.Add(1) {
				case 1:
					<-both
				case 2:
					close(both)
				case 3:
					close(reached)
					<-r.Context().Done()
					return
				}
				answers("application/json", `{"kind":"MachineList","items":[]}`)(w, r)
			})
			proxy.doubt = row.doubt
			done := served(shown)
			ask := func(ctx context.Context) error {
				request, err := http.NewRequestWithContext(ctx, http.MethodGet, shown.URL+machines, http.NoBody)
				if err != nil {
					return err
				}
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					return err
				}
				defer response.Body.Close()
				_, err = io.Copy(io.Discard, response.Body)
				return err
			}
			var together sync.WaitGroup
			for range 2 {
				together.Go(func() {
					if err := ask(t.Context()); err != nil {
						t.Error(err)
					}
				})
				together.Go(func() { <-done })
			}
			together.Wait()
			ctx, leave := context.WithCancel(t.Context())
			go func() {
				<-reached
				leave()
			}()
			if err := ask(ctx); err == nil {
				t.Fatal("the third is answered")
			}
			<-done
			if err := ask(t.Context()); err != nil {
				t.Fatal(err)
			}
			<-done
			before := []string{<-used, <-used, <-used}
			last := <-used
			if last == before[2] || slices.Contains(before, last) == row.other {
				t.Errorf("it comes by %s after %v", last, before)
			}
		})
	}
}

// What a client may take for an event must not count from the last event to the end.
func TestWatch_that_ends_long_after_its_last_event_ends_well(t *testing.T) {
	last := make(chan struct{})
	proxy, shown := front(t, func(w http.ResponseWriter, r *http.Request) {
		answers("application/vnd.kubernetes.protobuf;stream=watch", "\x00\x00\x00\x00")(w, r)
		w.(http.Flusher).Flush()
		<-last
	})
	proxy.patience = 20 * time.Millisecond
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, shown.URL+machines+"?watch=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/vnd.kubernetes.protobuf;stream=watch")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	event := make([]byte, 4)
	if _, err := io.ReadFull(response.Body, event); err != nil || strings.Trim(string(event), "\x00") != "" {
		t.Fatalf("%q, %v", event, err)
	}
	time.AfterFunc(5*proxy.patience, func() { close(last) })
	if rest, err := io.ReadAll(response.Body); err != nil || len(rest) > 0 {
		t.Errorf("it ends with %q: %v", rest, err)
	}
}
