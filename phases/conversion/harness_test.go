package conversion_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	"github.com/capstan-capi/capstan/phases/conversion"
)

const (
	standard = "cluster.x-k8s.io"
	private  = "cluster.hypershift.openshift.io"
)

// jumping is a clock that is always as late as somebody waits for.
type jumping struct{ *testclock.FakeClock }

func (j jumping) NewTimer(long time.Duration) clock.Timer {
	timer := j.FakeClock.NewTimer(long)
	j.Step(long)
	return timer
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// served is a shim with routes, and the clock that it has.
type served struct {
	t     *testing.T
	http  http.Handler
	clock jumping
}

func serve(t *testing.T, convert conversion.Converter, routes ...conversion.Route) served {
	t.Helper()
	file := ""
	if len(routes) > 0 {
		file = filepath.Join(t.TempDir(), "routes.yaml")
		write(t, file, routes...)
	}
	read, err := conversion.ReadRoutes(file, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	c := jumping{testclock.NewFakeClock(noon)}
	shim, err := conversion.New(convert, read, c, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	return served{t, shim.Handler(), c}
}

func write(t *testing.T, file string, routes ...conversion.Route) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"routes": routes})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// post sends a review, and returns the code and the body of the answer.
func (s served) post(path string, review any) (int, string) {
	s.t.Helper()
	text, is := review.(string)
	if !is {
		written, err := json.Marshal(review)
		if err != nil {
			s.t.Fatal(err)
		}
		text = string(written)
	}
	recorder := httptest.NewRecorder()
	s.http.ServeHTTP(recorder, httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, path, strings.NewReader(text)))
	return recorder.Code, recorder.Body.String()
}

// convert sends a ConversionReview and returns the answer to it.
func (s served) convert(path, desired string, objects ...string) *apiextensionsv1.ConversionResponse {
	s.t.Helper()
	code, body := s.post(path, conversionOf(desired, objects...))
	var answer apiextensionsv1.ConversionReview
	if err := json.Unmarshal([]byte(body), &answer); code != http.StatusOK || err != nil || answer.Response == nil || answer.Request != nil {
		s.t.Fatalf("answered %d %s: %v", code, body, err)
	}
	return answer.Response
}

func conversionOf(desired string, objects ...string) apiextensionsv1.ConversionReview {
	review := apiextensionsv1.ConversionReview{Request: &apiextensionsv1.ConversionRequest{UID: "the-uid", DesiredAPIVersion: desired}}
	review.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("ConversionReview"))
	for _, object := range objects {
		review.Request.Objects = append(review.Request.Objects, runtime.RawExtension{Raw: []byte(object)})
	}
	return review
}

func admissionOf(request admissionv1.AdmissionRequest) admissionv1.AdmissionReview {
	request.UID = "the-uid"
	review := admissionv1.AdmissionReview{Request: &request}
	review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	return review
}

// machine is one of a group, in a version.
func machine(group, version string, number int) string {
	return fmt.Sprintf(`{"apiVersion":"%s/%s","kind":"Machine","metadata":{"name":"m-%d","namespace":"ns"}}`, group, version, number)
}

// delegate is a server that answers reviews in standard text; it fails the test on private text.
func delegate[Review any](t *testing.T, answer func(path string, review Review) (int, any)) conversion.Route {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		if _, err := body.ReadFrom(r.Body); err != nil {
			t.Error(err)
		}
		if strings.Contains(body.String(), private) {
			t.Errorf("the delegate is sent private text: %s", body.String())
		}
		var review Review
		if err := json.Unmarshal(body.Bytes(), &review); err != nil {
			t.Error(err)
		}
		code, said := answer(r.URL.Path, review)
		w.WriteHeader(code)
		if err := json.NewEncoder(w).Encode(said); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return conversion.Route{Name: "core", URL: server.URL}
}

// noConverter is for what no linked package is asked.
func noConverter(t *testing.T) conversion.Converter {
	return func([]byte, string) ([]byte, error) {
		t.Error("the linked packages are asked")
		return nil, nil
	}
}

func sameUID(t *testing.T, got types.UID) {
	t.Helper()
	if got != "the-uid" {
		t.Errorf("the answer is for %q", got)
	}
}
