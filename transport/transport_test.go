package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// server answers after some time, with a body that comes piece by piece.
type server struct {
	after  time.Duration // until the answer; negative for never
	pieces []piece
}

type piece struct {
	after time.Duration
	text  string
}

func (s server) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := wait(request.Context(), s.after); err != nil {
		return nil, err
	}
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: &body{ctx: request.Context(), pieces: s.pieces}}, nil
}

func wait(ctx context.Context, long time.Duration) error {
	if long < 0 {
		<-ctx.Done()
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(long):
		return nil
	}
}

// body is over after the last piece, unless that never comes.
type body struct {
	ctx    context.Context
	pieces []piece
	closed bool
}

func (b *body) Read(into []byte) (int, error) {
	if len(b.pieces) == 0 {
		return 0, io.EOF
	}
	next := b.pieces[0]
	b.pieces = b.pieces[1:]
	if err := wait(b.ctx, next.after); err != nil {
		return 0, err
	}
	return copy(into, next.text), nil
}

func (b *body) Close() error {
	b.closed = true
	return nil
}

const (
	list  = "http://server/apis/rbac.authorization.k8s.io/v1/clusterroles"
	plain = list + "?watch=true&timeoutSeconds=300"
	first = plain + "&sendInitialEvents=true"
	never = time.Duration(-1)
)

func TestBound_tells_of_all_that_comes_of_a_request(t *testing.T) {
	for name, row := range map[string]struct {
		server server
		signs  []time.Duration
	}{
		"it is answered in pieces": {server{time.Second, []piece{{time.Second, "a"}, {time.Second, "b"}}}, []time.Duration{1, 2, 3, 3}},
		"it is given up":           {server{after: never}, []time.Duration{65}},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			var signs []time.Duration
			ctx := WithSign(t.Context(), func() { signs = append(signs, time.Since(began)/time.Second) })
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, list, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if response, err := Bound(row.server).RoundTrip(request); err == nil {
				_, _ = io.ReadAll(response.Body)
				_ = response.Body.Close()
			}
			if !slices.Equal(signs, row.signs) {
				t.Errorf("%s: signs of life after %v s, want %v", name, signs, row.signs)
			}
		})
	}
}

func TestBound(t *testing.T) {
	words := piece{0, `{"type":"ADDED","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"}
	bookmark := piece{0, `{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"}
	for name, row := range map[string]struct {
		method, url string
		server      server
		gone        time.Duration // when it is given up; zero for never
		what        string
		read        string
	}{
		"a read is answered":         {url: list, server: server{time.Minute, []piece{{0, "a"}, {time.Minute, "b"}}}, read: "ab"},
		"a read is not answered":     {url: list, server: server{after: never}, gone: 65 * time.Second, what: "the answer"},
		"an answer stops in between": {url: list, server: server{0, []piece{{0, "a"}, {never, ""}}}, gone: 65 * time.Second, what: "the rest of the answer", read: "a"},
		"a watch is not answered":    {url: first, server: server{after: never}, gone: 30 * time.Second, what: "the answer"},
		"a list never begins":        {url: first, server: server{0, []piece{{never, ""}}}, gone: 30 * time.Second, what: "more of the list"},
		"a list is never over": {
			url: first, server: server{0, []piece{{20 * time.Second, "a"}, {20 * time.Second, "b"}, {never, ""}}},
			gone: 70 * time.Second, what: "more of the list", read: "ab",
		},
		"after its list a watch may be silent until its end": {
			url: first, server: server{0, []piece{bookmark, {4 * time.Minute, "c"}, {never, ""}}},
			gone: 330 * time.Second, what: "the end of the watch", read: bookmark.text + "c",
		},
		"an object of the list with the words of the bookmark does not end it": {
			url: first, server: server{0, []piece{words, {never, ""}}}, gone: 30 * time.Second, what: "more of the list", read: words.text,
		},
		"the end of the list comes in pieces": {
			url:    first,
			server: server{0, []piece{{0, "x\n" + bookmark.text[:70]}, {20 * time.Second, bookmark.text[70:75]}, {0, bookmark.text[75:]}, {4 * time.Minute, "c"}}},
			read:   "x\n" + bookmark.text + "c",
		},
		"a watch without a list may be silent until its end": {
			url: plain, server: server{0, []piece{{never, ""}}}, gone: 330 * time.Second, what: "the end of the watch",
		},
		"a watch that was asked for without an end":   {url: list + "?watch=1", server: server{0, []piece{{time.Hour, "a"}}}, read: "a"},
		"a write is answered when webhooks were slow": {method: http.MethodPatch, url: list, server: server{31 * time.Second, []piece{{0, "a"}}}, read: "a"},
		"a write is not answered":                     {method: http.MethodPut, url: list, server: server{after: never}, gone: 35 * time.Second, what: "the answer"},
		"a deletion is half answered":                 {method: http.MethodDelete, url: list, server: server{0, []piece{{30 * time.Second, "a"}, {never, ""}}}, gone: 35 * time.Second, what: "the rest of the answer", read: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				request, err := http.NewRequestWithContext(t.Context(), row.method, row.url, http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				var read []byte
				response, err := Bound(row.server).RoundTrip(request)
				if err == nil {
					read, err = io.ReadAll(response.Body)
					if closing := response.Body.Close(); closing != nil {
						t.Error(closing)
					}
				}
				if string(read) != row.read {
					t.Errorf("read %q, want %q", read, row.read)
				}
				if row.gone == 0 {
					if err != nil {
						t.Error(err)
					}
					return
				}
				if silence, is := errors.AsType[*SilenceError](err); !is || silence.For != row.what || !strings.Contains(err.Error(), "clusterroles") {
					t.Errorf("ended with %v", err)
				}
				if took := time.Since(began); took != row.gone {
					t.Errorf("was given up after %s", took)
				}
			})
		})
	}
}

func TestBound_an_ending_of_the_caller_is_the_callers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, first, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Bound(server{after: never}).RoundTrip(request) //nolint:bodyclose // There is none.
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestBound_closing_a_watch_ends_it(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, first, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := Bound(server{0, []piece{{never, ""}}}).RoundTrip(request) //nolint:bodyclose // It is, below.
		if err != nil {
			t.Fatal(err)
		}
		read := make(chan error)
		go func() {
			_, err := response.Body.Read(make([]byte, 1))
			read <- err
		}()
		synctest.Wait()
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		if err := <-read; !errors.Is(err, context.Canceled) {
			t.Errorf("a read that was under way ends with %v", err)
		}
	})
}
