package events

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	testclock "k8s.io/utils/clock/testing"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// eventServer notes the requests that are sent to it, and answers as an API server does.
func eventServer(t *testing.T) (*Writer, *testclock.FakeClock, func() []string) {
	var sent []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var event eventsv1.Event
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
			t.Error(err)
		}
		line := fmt.Sprintf("%s %s %s %q", r.Method, event.Type, event.Reason, event.Note)
		if event.Series != nil {
			line = fmt.Sprintf("%s count %d", r.Method, event.Series.Count)
		}
		sent = append(sent, line)
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(event); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	now := testclock.NewFakeClock(noon)
	w, err := New(&rest.Config{Host: server.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, server.Client(), now, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	return w, now, func() []string { defer func() { sent = nil }(); return sent }
}

func TestWriter_counts_what_comes_again_instead_of_telling_it_again(t *testing.T) {
	w, now, sent := eventServer(t)
	tell := func(key string) {
		t.Helper()
		if err := w.write(t.Context(), Event{By: "test", Key: key, Reason: "Collision", Action: "Apply", Text: "it is in the way", Warns: true}); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(what string, want ...string) {
		t.Helper()
		if got := sent(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	created := `POST Warning Collision "it is in the way"`
	tell("one")
	expect("news", created)
	for range 5 {
		now.Step(time.Minute)
		tell("one")
	}
	expect("the same Event within ten minutes")
	now.Step(5 * time.Minute)
	tell("one")
	expect("the same Event after ten minutes", "PATCH count 7")
	tell("two")
	expect("other news", created)
	now.Step(time.Hour)
	tell("one")
	expect("the same Event after an hour, when the first Event has gone", created)
}

func TestWriter_names_Events_about_any_object_as_the_API_allows(t *testing.T) {
	w, now, _ := eventServer(t)
	for about, want := range map[string]string{
		"worker-0":                      "worker-0.",
		"system:masters":                "system-masters.",
		strings.Repeat("a", 253):        strings.Repeat("a", 227) + ".",
		strings.Repeat("a", 226) + ".b": strings.Repeat("a", 226) + ".",
		":":                             "by.",
		"":                              "by.",
	} {
		got := w.event(Event{By: "by", About: corev1.ObjectReference{Name: about}}, now.Now()).Name
		if causes := validation.IsDNS1123Subdomain(got); len(causes) > 0 || !strings.HasPrefix(got, want) {
			t.Errorf("an Event about %q is named %q: %v", about, got, causes)
		}
	}
}

func TestWriter_remembers_a_bounded_number_of_news(t *testing.T) {
	w, now, _ := eventServer(t)
	for i := range rememberedEvents + 10 {
		now.Step(time.Millisecond)
		if err := w.write(t.Context(), Event{Key: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if w.told[Event{Key: "9"}.identity()] != nil || w.told[Event{Key: "10"}.identity()] == nil || len(w.told) != rememberedEvents {
		t.Errorf("it remembers %d, the oldest first let go: %v", len(w.told), w.told[Event{Key: "10"}.identity()] != nil)
	}
}

func TestWriter_never_blocks_a_pass(t *testing.T) {
	w := &Writer{queue: make(chan Event, 1), log: logr.Discard()}
	w.Tell(Event{Reason: "one"})
	w.Tell(Event{Reason: "two"})
	if n := <-w.queue; n.Reason != "one" || len(w.queue) != 0 {
		t.Errorf("got %+v and %d more", n, len(w.queue))
	}
}
