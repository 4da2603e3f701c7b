package compatibility

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capstan-capi/capstan/phases/crdschema/paths"
)

func TestSplit_takes_the_objects_out_of_a_review(t *testing.T) {
	for name, c := range map[string]struct{ review, rest, written, stored string }{
		"both":                      {`{"request":{"uid":"u","object":{"a":{}},"oldObject":{"b":[1]}}}`, `{"request":{"uid":"u","object":null,"oldObject":null}}`, `{"a":{}}`, `{"b":[1]}`},
		"in another order":          {`{"request":{"oldObject": {"b":1} ,"object":{"a":{}}}}`, `{"request":{"oldObject": null ,"object":null}}`, `{"a":{}}`, `{"b":1}`},
		"one":                       {`{"request":{"object":{"a":{}},"oldObject":null}}`, `{"request":{"object":null,"oldObject":null}}`, `{"a":{}}`, ``},
		"none":                      {`{"request":{"uid":"u"}}`, `{"request":{"uid":"u"}}`, ``, ``},
		"no request":                {`{"kind":"AdmissionReview"}`, `{"kind":"AdmissionReview"}`, ``, ``},
		"what is no object":         {`{"request":{"object":[{}],"oldObject":"{}"}}`, `{"request":{"object":[{}],"oldObject":"{}"}}`, ``, ``},
		"what is not JSON":          {`{"request":{"object":{"a":1},}}`, `{"request":{"object":{"a":1},}}`, ``, ``},
		"nothing at all":            {``, ``, ``, ``},
		"a dot in a name within it": {`{"request.object":{"a":1},"request":{"object":{"b":1}}}`, `{"request.object":{"a":1},"request":{"object":null}}`, `{"b":1}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			rest, taken := split([]byte(c.review))
			if string(rest) != c.rest || string(taken.written) != c.written || string(taken.stored) != c.stored {
				t.Errorf("rest %s, written %s, stored %s", rest, taken.written, taken.stored)
			}
		})
	}
}

func TestIsDeeper(t *testing.T) {
	for text, want := range map[string]bool{
		`[[]]`: false, `[[[]]]`: true, `[{"a":[]}]`: true, `{"a":"[[["}`: false, `{"a":"\"[[["}`: false, `{"a":"\\\\"},[[[`: true, `[][][][]`: false, `]]][[[`: false, ``: false,
	} {
		if got := isDeeper([]byte(text), 2); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// Whoever reaches the port may send anything: the whole process would end, since a stack that overflows cannot be recovered from.
func TestServer_survives_what_is_too_deep(t *testing.T) {
	handler, _ := world{}.served(t)
	for _, deep := range []string{"[", `{"a":`, `{"request":{"object":[`} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, paths.CRDsDeny, strings.NewReader(strings.Repeat(deep, maxBody/len(deep))))
		request.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		if handler.ServeHTTP(answer, request); !strings.Contains(answer.Body.String(), `"allowed":false`) {
			t.Errorf("%s: %d %.200s", deep, answer.Code, answer.Body)
		}
	}
}

func TestSplit_and_into_lose_nothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object := rapid.SampledFrom([]any{nil, map[string]any{"metadata": map[string]any{"name": "a"}}, map[string]any{"object": map[string]any{}, "text": `"}{`}})
		review := admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{
			UID: "u", Name: rapid.String().Draw(t, "name"), Object: raw(object.Draw(t, "object")), OldObject: raw(object.Draw(t, "old")), Options: raw(object.Draw(t, "options")),
		}}
		text := raw(review).Raw
		whole, parted := admissionv1.AdmissionReview{}, admissionv1.AdmissionReview{}
		rest, taken := split(text)
		for into, text := range map[*admissionv1.AdmissionReview][]byte{&whole: text, &parted: rest} {
			if err := json.Unmarshal(text, into); err != nil {
				t.Fatal(err)
			}
		}
		request := admission.Request{AdmissionRequest: *parted.Request}
		taken.into(&request)
		if diff := cmp.Diff(*whole.Request, request.AdmissionRequest); diff != "" {
			t.Fatal(diff)
		}
	})
}
