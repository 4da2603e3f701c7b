package conversion_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// upgrade is a converter that only changes the version, and fails for the Machine that is named bad.
func upgrade(t *testing.T, bad string) func([]byte, string) ([]byte, error) {
	return func(object []byte, desired string) ([]byte, error) {
		text := string(object)
		switch {
		case strings.Contains(text, private) || strings.Contains(desired, private):
			t.Errorf("the converter is given private text: %s to %s", text, desired)
		case bad != "" && strings.Contains(text, `"`+bad+`"`):
			return nil, errors.New("it is bad")
		case strings.Contains(text, `"panics"`):
			panic(text)
		}
		return []byte(strings.Replace(text, standard+"/v1beta1", desired, 1)), nil
	}
}

func TestConvert_keeps_uid_order_and_number_of_a_batch(t *testing.T) {
	var objects []string
	for i := range 100 {
		objects = append(objects, machine(private, "v1beta1", i))
	}
	response := serve(t, upgrade(t, "")).convert("/convert", private+"/v1beta2", objects...)
	sameUID(t, response.UID)
	if response.Result.Status != metav1.StatusSuccess || len(response.ConvertedObjects) != 100 {
		t.Fatalf("%v with %d objects", response.Result, len(response.ConvertedObjects))
	}
	for i, object := range response.ConvertedObjects {
		if want := machine(private, "v1beta2", i); string(object.Raw) != want {
			t.Errorf("object %d is %s", i, object.Raw)
		}
	}
}

// API servers send a response in what they ask, see createConversionReviewObjects in apiextensions-apiserver.
func TestConvert_takes_a_question_with_an_empty_response(t *testing.T) {
	review := `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u","desiredAPIVersion":"` + private + `/v1beta2","objects":[` +
		machine(private, "v1beta1", 1) + `]},"response":{"uid":"","convertedObjects":null,"result":{"metadata":{}}}}`
	if code, body := serve(t, upgrade(t, "")).post("/convert", review); code != http.StatusOK || !strings.Contains(body, "v1beta2") {
		t.Errorf("answered %d %s", code, body)
	}
}

func TestConvert_leaves_an_object_that_has_the_version_already(t *testing.T) {
	given := machine(private, "v1beta2", 1)
	response := serve(t, noConverter(t)).convert("/convert", private+"/v1beta2", given)
	if len(response.ConvertedObjects) != 1 || string(response.ConvertedObjects[0].Raw) != given {
		t.Errorf("got %v", response)
	}
}

func TestConvert_fails_a_batch_for_one_bad_object_and_names_it(t *testing.T) {
	for name, bad := range map[string]string{
		"m-37":   machine(private, "v1beta1", 37),
		"odd":    `{"metadata":{"namespace":"ns","name":"odd"}}`,
		"panics": strings.Replace(machine(private, "v1beta1", 37), "m-37", "panics", 1),
	} {
		t.Run(name, func(t *testing.T) {
			var objects []string
			for i := range 100 {
				objects = append(objects, machine(private, "v1beta1", i))
			}
			objects[37] = bad
			response := serve(t, upgrade(t, "m-37")).convert("/convert", private+"/v1beta2", objects...)
			sameUID(t, response.UID)
			if response.Result.Status != metav1.StatusFailure || len(response.ConvertedObjects) != 0 {
				t.Fatalf("got %v with %d objects", response.Result, len(response.ConvertedObjects))
			}
			for _, says := range []string{" ns/" + name, "object 38 of 100", " to " + private + "/v1beta2"} {
				if !strings.Contains(response.Result.Message, says) {
					t.Errorf("%q does not say %q", response.Result.Message, says)
				}
			}
		})
	}
}

func TestConvert_refuses_what_is_no_review_of_private_types(t *testing.T) {
	for name, c := range map[string]struct {
		review any
		says   string
	}{
		"no JSON":            {`{`, "reading the ConversionReview"},
		"another kind":       {`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`, "AdmissionReview of admission.k8s.io/v1"},
		"another version":    {`{"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"ConversionReview"}`, "no ConversionReview of apiextensions.k8s.io/v1"},
		"no request":         {`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"}`, "no request"},
		"a group of its own": {conversionOf("example.com/v1"), "example.com/v1 is no version of a private type"},
	} {
		t.Run(name, func(t *testing.T) {
			code, body := serve(t, noConverter(t)).post("/convert", c.review)
			if code != http.StatusBadRequest || !strings.Contains(body, c.says) {
				t.Errorf("answered %d %s", code, body)
			}
		})
	}
}

func TestConvert_refuses_what_takes_many_times_its_text_before_it_is_decoded(t *testing.T) {
	review := func(objects string) string {
		return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u","desiredAPIVersion":"` + private + `/v1beta2","objects":[` + objects + `]}}`
	}
	for name, c := range map[string]struct{ review, says string }{
		"objects without number": {review(strings.Repeat("1,", 1<<20) + "1"), "more than 20000 objects"},
		"an object without end":  {review(`1,{"spec":"` + strings.Repeat("x", 4<<20) + `"}`), "object 2 has more than"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, noConverter(t))
			var code int
			var body string
			taken := testing.Benchmark(func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					code, body = s.post("/convert", c.review)
				}
			}).AllocedBytesPerOp()
			if code != http.StatusRequestEntityTooLarge || !strings.Contains(body, c.says) {
				t.Errorf("answered %d %s", code, body)
			}
			if most := int64(5 * len(c.review)); taken > most {
				t.Errorf("it takes %d bytes, of %d for the review", taken, len(c.review))
			}
		})
	}
}

func TestConvert_takes_no_other_method_and_no_ambiguous_path(t *testing.T) {
	s := serve(t, noConverter(t))
	recorder := httptest.NewRecorder()
	s.http.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/convert", nil))
	if recorder.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET is answered %d", recorder.Code)
	}
	if code, body := s.post("/convert/core/a%2Fb", conversionOf(private+"/v1beta2")); code != http.StatusBadRequest {
		t.Errorf("the path is answered %d %s", code, body)
	}
}

func TestConvert_has_a_provider_convert_in_standard_text(t *testing.T) {
	route := delegate(t, func(path string, review apiextensionsv1.ConversionReview) (int, any) {
		if path != "/convert" || review.Request.DesiredAPIVersion != "infrastructure."+standard+"/v1beta2" {
			t.Errorf("asked at %s for %s", path, review.Request.DesiredAPIVersion)
		}
		objects := review.Request.Objects
		for i := range objects {
			objects[i].Raw = []byte(strings.Replace(string(objects[i].Raw), "v1beta1", "v1beta2", 1))
		}
		return http.StatusOK, apiextensionsv1.ConversionReview{TypeMeta: review.TypeMeta, Response: &apiextensionsv1.ConversionResponse{UID: review.Request.UID, ConvertedObjects: objects, Result: metav1.Status{Status: metav1.StatusSuccess}}}
	})
	response := serve(t, noConverter(t), route).convert("/convert/core/convert", "infrastructure."+private+"/v1beta2", machine("infrastructure."+private, "v1beta1", 1), machine("infrastructure."+private, "v1beta1", 2))
	sameUID(t, response.UID)
	for i, want := range []string{machine("infrastructure."+private, "v1beta2", 1), machine("infrastructure."+private, "v1beta2", 2)} {
		if len(response.ConvertedObjects) != 2 || string(response.ConvertedObjects[i].Raw) != want {
			t.Fatalf("got %v, %q", response.Result, response.ConvertedObjects)
		}
	}
}

func TestConvert_believes_no_provider_that_answers_something_else(t *testing.T) {
	for name, c := range map[string]struct {
		answer apiextensionsv1.ConversionResponse
		says   string
	}{
		"another uid": {apiextensionsv1.ConversionResponse{UID: "x", Result: metav1.Status{Status: metav1.StatusSuccess}}, "the answer is for the request x"},
		"too few":     {apiextensionsv1.ConversionResponse{UID: "the-uid", Result: metav1.Status{Status: metav1.StatusSuccess}}, "the answer has 0 objects, and the request 1"},
		"a refusal":   {apiextensionsv1.ConversionResponse{UID: "the-uid", Result: metav1.Status{Status: metav1.StatusFailure, Message: "no such version"}}, "no such version"},
	} {
		t.Run(name, func(t *testing.T) {
			route := delegate(t, func(string, apiextensionsv1.ConversionReview) (int, any) {
				return http.StatusOK, apiextensionsv1.ConversionReview{Response: &c.answer}
			})
			result := serve(t, noConverter(t), route).convert("/convert/core/convert", private+"/v1beta2", machine(private, "v1beta1", 1)).Result
			if result.Status != metav1.StatusFailure || !strings.Contains(result.Message, c.says) || !strings.Contains(result.Message, "Machine ns/m-1") {
				t.Errorf("got %v", result)
			}
		})
	}
}

func TestConvert_names_a_route_that_is_missing(t *testing.T) {
	result := serve(t, noConverter(t)).convert("/convert/core/convert", private+"/v1beta2", machine(private, "v1beta1", 1)).Result
	if want := fmt.Sprintf("the shim has no route %q", "core"); !strings.Contains(result.Message, want) {
		t.Errorf("got %v", result)
	}
}
