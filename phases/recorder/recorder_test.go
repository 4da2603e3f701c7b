package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var key = client.ObjectKey{Namespace: "ns", Name: ConfigMap}

// server is an API server for one ConfigMap, with its optimistic lock.
type server struct {
	mu       sync.Mutex
	stored   *corev1.ConfigMap
	version  int
	requests []string
	// refuse answers requests with this code; lost makes changes first.
	refuse int
	lost   bool
	// hold, unless nil, delays the answers to changes that were made until it is closed.
	hold chan struct{}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method)
	if s.refuse != 0 && !s.lost {
		fail(w, s.refuse, metav1.StatusReasonInternalError)
		return
	}
	if r.Method == http.MethodGet {
		if s.stored == nil {
			fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
			return
		}
		answer(w, http.StatusOK, s.stored)
		return
	}
	var sent corev1.ConfigMap
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
		fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		return
	}
	switch {
	case r.Method == http.MethodPost && s.stored != nil:
		fail(w, http.StatusConflict, metav1.StatusReasonAlreadyExists)
	case r.Method == http.MethodPut && s.stored == nil:
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	case r.Method == http.MethodPut && sent.ResourceVersion != s.stored.ResourceVersion:
		fail(w, http.StatusConflict, metav1.StatusReasonConflict)
	case s.lost:
		s.put(&sent)
		fail(w, s.refuse, metav1.StatusReasonInternalError)
	default:
		s.put(&sent)
		made := s.stored
		if hold := s.hold; hold != nil {
			s.mu.Unlock()
			<-hold
			s.mu.Lock()
		}
		answer(w, http.StatusOK, made)
	}
}

func (s *server) put(object *corev1.ConfigMap) {
	s.version++
	object.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	object.ResourceVersion = strconv.Itoa(s.version)
	s.stored = object
}

func answer(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object)
}

func fail(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	answer(w, code, &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason,
	})
}

// change lets somebody else write.
func (s *server) change(by func(*server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	by(s)
}

// seen are the requests so far and the texts of the entries stored.
func (s *server) seen(t *testing.T) (requests, texts string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stored != nil {
		log, err := unpack(s.stored.BinaryData[contentKey])
		if err != nil {
			t.Fatal(err)
		}
		words := make([]string, 0, len(log))
		for _, e := range log {
			words = append(words, e.Text)
		}
		texts = strings.Join(words, " ")
	}
	return strings.Join(s.requests, " "), texts
}

func serve(t *testing.T) (*server, client.Client) {
	t.Helper()
	s := &server{}
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	c, err := client.New(&rest.Config{Host: listening.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}},
		client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func say(r *Recorder, words ...string) {
	for _, word := range words {
		r.Add(Failed(noon, "", errors.New(word), nil))
	}
}

func TestWrite_appends_and_keeps_what_another_writer_has_stored(t *testing.T) {
	s, c := serve(t)
	first := New(c, c, key, clock.RealClock{}, logr.Discard())
	second := New(c, c, key, clock.RealClock{}, logr.Discard())
	for _, step := range []struct {
		r    *Recorder
		says []string
		want string
	}{
		{first, []string{"a", "b"}, "a b"},
		{first, []string{"c"}, "a b c"},
		{second, []string{"d"}, "a b c d"},
		{first, []string{"e"}, "a b c d e"},
		{first, nil, "a b c d e"},
	} {
		say(step.r, step.says...)
		if err := step.r.write(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, got := s.seen(t); got != step.want {
			t.Fatalf("stored are %q, want %q", got, step.want)
		}
	}
	if requests, _ := s.seen(t); requests != "GET POST PUT GET PUT PUT GET PUT" {
		t.Errorf("requests were %s", requests)
	}
}

func TestWrite_goes_on_after_a_deletion_and_starts_anew_on_what_cannot_be_read(t *testing.T) {
	s, c := serve(t)
	r := New(c, c, key, clock.RealClock{}, logr.Discard())
	say(r, "a")
	if err := r.write(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.change(func(s *server) { s.stored = nil })
	say(r, "b")
	if err := r.write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, got := s.seen(t); got != "b" {
		t.Errorf("after a deletion there is %q", got)
	}
	for _, broken := range []string{"nonsense", "\x1f\x8bnonsense", ""} {
		s.change(func(s *server) {
			s.put(&corev1.ConfigMap{
				ObjectMeta: s.stored.ObjectMeta,
				BinaryData: map[string][]byte{contentKey: []byte(broken), "other": []byte("x")},
			})
		})
		say(r, "c")
		if err := r.write(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, got := s.seen(t); got != "c" {
			t.Errorf("after %q there is %q", broken, got)
		}
	}
}

func TestWrite_loses_nothing_to_an_error(t *testing.T) {
	s, c := serve(t)
	r := New(c, c, key, clock.RealClock{}, logr.Discard())
	say(r, "a")
	s.change(func(s *server) { s.refuse = http.StatusForbidden })
	if err := r.write(t.Context()); err == nil || !strings.Contains(err.Error(), "ConfigMap ns/capstan-recorder") {
		t.Fatalf("got %v", err)
	}
	say(r, "b")
	s.change(func(s *server) { s.refuse = 0 })
	if err := r.write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, got := s.seen(t); got != "a b" {
		t.Errorf("stored are %q", got)
	}
}

func TestWrite_stores_nothing_twice_when_an_answer_was_lost(t *testing.T) {
	s, c := serve(t)
	r := New(c, c, key, clock.RealClock{}, logr.Discard())
	say(r, "a")
	s.change(func(s *server) { s.refuse, s.lost = http.StatusInternalServerError, true })
	if err := r.write(t.Context()); err == nil {
		t.Fatal("the answer was not lost")
	}
	s.change(func(s *server) { s.refuse, s.lost = 0, false })
	say(r, "b")
	if err := r.write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, got := s.seen(t); got != "a b" {
		t.Errorf("stored are %q", got)
	}
}

func TestRun_writes_at_most_every_ten_seconds_only_news_and_what_is_left_at_the_end(t *testing.T) {
	s, c := serve(t)
	now := clocktesting.NewFakeClock(noon)
	r := New(c, c, key, now, logr.Discard())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()

	say(r, "a", "b")
	step(t, now, gather)
	stored(t, s, "a b")
	say(r, "c")
	step(t, now, writeEvery-1)
	if _, got := s.seen(t); got != "a b" {
		t.Errorf("before ten seconds are over it stores %q", got)
	}
	step(t, now, 1)
	stored(t, s, "a b c")

	say(r, "c", "c")
	select {
	case <-r.fresh:
		t.Error("what happens again is written again")
	default:
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	stored(t, s, "a b c")
	if requests, _ := s.seen(t); requests != "GET POST PUT PUT" {
		t.Errorf("requests were %s", requests)
	}
	if log, err := unpack(s.stored.BinaryData[contentKey]); err != nil || log[2].Times != 3 {
		t.Errorf("how often it happened is not told: %+v (%v)", log, err)
	}
}

func TestRun_finishes_the_write_under_way_when_it_ends_and_does_not_make_it_twice(t *testing.T) {
	s, c := serve(t)
	s.hold = make(chan struct{})
	now := clocktesting.NewFakeClock(noon)
	r := New(c, c, key, now, logr.Discard())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()

	say(r, "a")
	step(t, now, gather)
	stored(t, s, "a")
	cancel()
	close(s.hold)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if requests, _ := s.seen(t); requests != "GET POST" {
		t.Errorf("requests were %s", requests)
	}
}

// step waits until the recorder waits, and lets time pass.
func step(t *testing.T, now *clocktesting.FakeClock, by time.Duration) {
	t.Helper()
	eventually(t, func() error {
		if !now.HasWaiters() {
			return errors.New("the recorder does not wait for a moment")
		}
		return nil
	})
	now.Step(by)
}

func stored(t *testing.T, s *server, want string) {
	t.Helper()
	eventually(t, func() error {
		if _, got := s.seen(t); got != want {
			return fmt.Errorf("stored are %q, want %q", got, want)
		}
		return nil
	})
}

func eventually(t *testing.T, ask func() error) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		err := ask()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatal(err)
		case <-time.After(time.Millisecond):
		}
	}
}
