package images

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/utils/clock"
)

func TestParseManifest_refuses_what_would_take_much_memory_before_it_takes_it(t *testing.T) {
	list := func(elements int) string {
		return `{"schemaVersion":2,"layers":[` + strings.Repeat(`{},`, elements-1) + `{}]}`
	}
	for name, c := range map[string]struct{ text, says string }{
		"millions of layers": {list(manifestBytes/3 - 20), "keys and values"},
		"deep objects":       {strings.Repeat(`{"":`, manifestBytes/4), "levels deep"},
		"deep lists":         {strings.Repeat(`[`, manifestBytes), "levels deep"},
		"many keys":          {`{"a":{` + strings.Repeat(`"":0,`, manifestBytes/6), "twice"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := parseManifest(someDigest, []byte(c.text))
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Fatal("it is read")
			}
			contains(t, err, c.says)
			// What is allocated in all: more than a reader holds at any moment.
			if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > 64 {
				t.Errorf("%d MiB were allocated", allocated)
			}
		})
	}
	if _, err := parseManifest(someDigest, []byte(list(500))); err != nil {
		t.Errorf("500 layers are refused: %v", err)
	}
}

// answering is the answer of a registry itself.
func answering(body string) *http.Response {
	return &http.Response{Request: &http.Request{URL: &url.URL{}}, Body: io.NopCloser(strings.NewReader(body))}
}

func TestVerified_refuses_a_size_that_nothing_has(t *testing.T) {
	r := &repository{host: "registry.test"}
	digest, err := v1.NewHash(someDigest)
	must(t, err)
	for _, size := range []int64{-2, -1 << 62} {
		answer := answering("content")
		_, err := io.ReadAll(r.verified(t.Context(), answer, blobKind, digest, size))
		must(t, answer.Body.Close())
		if err == nil {
			t.Fatalf("a size of %d is read", size)
		}
		contains(t, err, "bytes")
	}
}

// FuzzAttachment is for what a registry may serve as an attachment: it is refused, or each of its signatures may be asked for.
func FuzzAttachment(f *testing.F) {
	for _, seed := range []string{
		`{"schemaVersion":2,"layers":[]}`, `{"schemaVersion":2,"manifests":[]}`, `{}`, ``,
		`{"schemaVersion":2,"layers":[{"mediaType":"a","size":-2,"digest":"` + someDigest + `"}]}`,
		`{"schemaVersion":2,"layers":[{"size":-1,"digest":"` + someDigest + `"},{"size":3,"digest":"sha512:0"}]}`,
		`{"schemaVersion":2,"layers":[{"size":7,"digest":"` + someDigest + `","annotations":{"dev.sigstore.cosign/bundle":"{\"Payload\":{}}"}}]}`,
		`{"schemaVersion":2,"layers":[` + strings.Repeat(`{},`, signaturesMost) + `{}]}`, strings.Repeat(`[`, 100), strings.Repeat(`{"":`, 100),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		attached, err := parseAttachment("sha256-0.sig", text)
		if err != nil {
			if failure := about("", err); failure.Kind != KindPolicy {
				t.Fatalf("a %s error: %v", failure.Kind, err)
			}
			return
		}
		if len(attached.Layers) > signaturesMost {
			t.Fatalf("%d signatures", len(attached.Layers))
		}
		r := &repository{host: "registry.test", activity: &activity{clock: clock.RealClock{}}}
		for _, layer := range attached.Layers {
			if layer.Size < 0 || layer.Size > signatureBytes {
				t.Fatalf("a signature of %d bytes", layer.Size)
			}
			answer := answering("content")
			_, _ = io.ReadAll(r.verified(context.Background(), answer, blobKind, layer.Digest, layer.Size))
			_ = answer.Body.Close()
		}
	})
}
