package release

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/capstan-capi/capstan/phases/images"
)

// counting is a registry, and how often it was asked.
func counting(t *testing.T) (host string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	serve := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		serve.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://"), asked
}

func TestLookup_asks_once_for_a_digest_and_each_time_for_a_tag(t *testing.T) {
	host, asked := counting(t)
	byDigest := push(t, host, "4.22.1", map[string]string{Label: "4.22.1"})
	l := NewLookup(images.Options{})
	for name, row := range map[string]struct {
		reference string
		policy    Policy
		again     bool
	}{"by digest": {byDigest, Digest, false}, "by tag": {host + "/release:4.22.1", Tag, true}} {
		for number := range 3 {
			asked.Store(0)
			got, err := l.Resolve(t.Context(), row.reference, row.policy, images.Access{})
			must(t, err)
			if string(got.Image) != byDigest || got.Version != "4.22.1" {
				t.Errorf("%s: it is %+v", name, got)
			}
			if number > 0 && (asked.Load() > 0) != row.again {
				t.Errorf("%s: asked again %d times", name, asked.Load())
			}
		}
	}
}

func TestLookup_gives_no_answer_to_another_access_than_it_was_given_to(t *testing.T) {
	host, asked := counting(t)
	byDigest := push(t, host, "4.22.1", map[string]string{Label: "4.22.1"})
	l := NewLookup(images.Options{})
	for _, access := range []images.Access{{}, {Credentials: []images.Document{{From: "a", Data: []byte(`{"auths":{}}`)}}}} {
		asked.Store(0)
		if _, err := l.Resolve(t.Context(), byDigest, Digest, access); err != nil || asked.Load() == 0 {
			t.Errorf("it was asked %d times (%v)", asked.Load(), err)
		}
	}
}

func TestLookup_remembers_no_failure_and_not_more_than_it_may(t *testing.T) {
	host, _ := counting(t)
	l := NewLookup(images.Options{})
	gone := host + "/release@sha256:" + strings.Repeat("0", 64)
	if _, err := l.Resolve(t.Context(), gone, Digest, images.Access{}); err == nil || len(l.known) > 0 {
		t.Errorf("it says %v, and remembers %d", err, len(l.known))
	}
	for number := range knownMost {
		l.known[[32]byte{byte(number), byte(number >> 8), 1}] = Release{}
	}
	if _, err := l.Resolve(t.Context(), push(t, host, "4.22.1", map[string]string{Label: "4.22.1"}), Digest, images.Access{}); err != nil || len(l.known) != 1 {
		t.Errorf("it remembers %d (%v)", len(l.known), err)
	}
}
