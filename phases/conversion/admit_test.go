package conversion_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/capstan-capi/capstan/phases/conversion"
)

func request(group string) admissionv1.AdmissionRequest {
	kind, resource := metav1.GroupVersionKind{Group: group, Version: "v1beta2", Kind: "Machine"}, metav1.GroupVersionResource{Group: group, Version: "v1beta2", Resource: "machines"}
	return admissionv1.AdmissionRequest{
		Kind: kind, Resource: resource, RequestKind: &kind, RequestResource: &resource, Name: "m-1", Namespace: "ns", Operation: admissionv1.Update,
		Object: runtime.RawExtension{Raw: []byte(machine(group, "v1beta2", 1))}, OldObject: runtime.RawExtension{Raw: []byte(machine(group, "v1beta1", 1))},
	}
}

func answers(review admissionv1.AdmissionReview, response admissionv1.AdmissionResponse) admissionv1.AdmissionReview {
	response.UID = review.Request.UID
	return admissionv1.AdmissionReview{TypeMeta: review.TypeMeta, Response: &response}
}

func TestAdmit_asks_in_standard_text_and_translates_the_patch_back(t *testing.T) {
	patch := `[
		{"op":"add","path":"/metadata/labels","value":{"apiVersion":"cluster.x-k8s.io/v1beta2"}},
		{"op":"add","path":"/metadata/annotations/apiVersion","value":"cluster.x-k8s.io/v1beta2"},
		{"op":"replace","path":"/spec/infrastructureRef/apiGroup","value":"infrastructure.cluster.x-k8s.io"},
		{"op":"add","path":"/spec/bootstrap","value":{"configRef":{"apiGroup":"bootstrap.cluster.x-k8s.io","name":"cluster.x-k8s.io"}}},
		{"op":"remove","path":"/spec/a"}]`
	route := delegate(t, func(path string, review admissionv1.AdmissionReview) (int, any) {
		want := admissionOf(request(standard))
		if diff := cmp.Diff(want.Request, review.Request); diff != "" || path != "/mutate" {
			t.Errorf("asked at %s: %s", path, diff)
		}
		return http.StatusOK, answers(review, admissionv1.AdmissionResponse{Allowed: true, Patch: []byte(patch), PatchType: ptr.To(admissionv1.PatchTypeJSONPatch), Warnings: []string{"old"}})
	})
	code, body := serve(t, noConverter(t), route).post("/admit/core/mutate", admissionOf(request(private)))
	var answer admissionv1.AdmissionReview
	if err := json.Unmarshal([]byte(body), &answer); code != http.StatusOK || err != nil || !answer.Response.Allowed {
		t.Fatalf("answered %d %s: %v", code, body, err)
	}
	sameUID(t, answer.Response.UID)
	var got, want any
	if err := json.Unmarshal(answer.Response.Patch, &got); err != nil {
		t.Fatal(err)
	}
	turned := strings.NewReplacer(`"infrastructure.cluster.x-k8s.io"`, `"infrastructure.cluster.hypershift.openshift.io"`, `"bootstrap.cluster.x-k8s.io"`, `"bootstrap.cluster.hypershift.openshift.io"`).Replace(patch)
	if err := json.Unmarshal([]byte(turned), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(answer.Response.Warnings) != 1 {
		t.Errorf("the warnings are %q", answer.Response.Warnings)
	}
}

func TestAdmit_hands_a_refusal_on(t *testing.T) {
	route := delegate(t, func(_ string, review admissionv1.AdmissionReview) (int, any) {
		return http.StatusOK, answers(review, admissionv1.AdmissionResponse{Result: &metav1.Status{Code: 422, Message: "spec.clusterName is required", Details: &metav1.StatusDetails{Group: standard, Kind: "Machine"}}})
	})
	_, body := serve(t, noConverter(t), route).post("/admit/core/validate", admissionOf(request(private)))
	var answer admissionv1.AdmissionReview
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.Response.Allowed || answer.Response.Result.Message != "spec.clusterName is required" ||
		answer.Response.Result.Code != 422 || answer.Response.Result.Details.Group != private {
		t.Errorf("answered %s: %v", body, err)
	}
}

func TestAdmit_refuses_an_answer_that_it_cannot_translate(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(*admissionv1.AdmissionReview)
		says   string
	}{
		"no review":     {func(r *admissionv1.AdmissionReview) { r.Response = nil }, "it is no review"},
		"another uid":   {func(r *admissionv1.AdmissionReview) { r.Response.UID = "x" }, "it is for the request x"},
		"another patch": {func(r *admissionv1.AdmissionReview) { r.Response.Patch = []byte(`{}`) }, "no JSONPatch"},
		"no patch": {func(r *admissionv1.AdmissionReview) {
			r.Response.Patch, r.Response.PatchType = []byte(`[{"op":`), ptr.To(admissionv1.PatchTypeJSONPatch)
		}, "translating its patch back"},
		"a move to a label": {func(r *admissionv1.AdmissionReview) {
			r.Response.Patch = []byte(`[{"op":"copy","from":"/spec/ref/apiGroup","path":"/metadata/labels/a"}]`)
			r.Response.PatchType = ptr.To(admissionv1.PatchTypeJSONPatch)
		}, "translating its patch back"},
	} {
		t.Run(name, func(t *testing.T) {
			route := delegate(t, func(_ string, review admissionv1.AdmissionReview) (int, any) {
				answer := answers(review, admissionv1.AdmissionResponse{Allowed: true})
				c.answer(&answer)
				return http.StatusOK, answer
			})
			code, body := serve(t, noConverter(t), route).post("/admit/core/mutate", admissionOf(request(private)))
			if code != http.StatusBadGateway || !strings.Contains(body, c.says) || !strings.Contains(body, "Machine ns/m-1 of "+private+"/v1beta2 is not admitted") {
				t.Errorf("answered %d %s", code, body)
			}
		})
	}
}

// The server of a route that comes back is asked again; one that does not is given up in time for whoever waits.
func TestAdmit_tries_a_server_that_is_away_three_times_in_two_seconds(t *testing.T) {
	for name, c := range map[string]struct {
		back time.Duration // after which the server answers
		code int           // with which it does not
		want int
		took time.Duration
	}{
		"away for a second":      {time.Second, http.StatusServiceUnavailable, http.StatusOK, 2 * time.Second},
		"away for half a second": {500 * time.Millisecond, http.StatusServiceUnavailable, http.StatusOK, 700 * time.Millisecond},
		"away for good":          {time.Hour, http.StatusBadGateway, http.StatusBadGateway, 2 * time.Second},
		"it refuses":             {time.Hour, http.StatusNotFound, http.StatusBadGateway, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var s served
			s = serve(t, noConverter(t), delegate(t, func(_ string, review admissionv1.AdmissionReview) (int, any) {
				if s.clock.Since(noon) < c.back {
					return c.code, "away"
				}
				return http.StatusOK, answers(review, admissionv1.AdmissionResponse{Allowed: true})
			}))
			code, body := s.post("/admit/core/mutate", admissionOf(request(private)))
			if took := s.clock.Since(noon); code != c.want || took != c.took {
				t.Errorf("answered %d %s after %s", code, body, took)
			}
			if c.want != http.StatusOK && (!strings.Contains(body, "asking route core") || !strings.Contains(body, "Machine ns/m-1")) {
				t.Errorf("the answer is %s", body)
			}
		})
	}
}

func TestAdmit_refuses_what_is_no_review(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": `{`, "another kind": `{"apiVersion":"v1","kind":"Pod"}`, "no request": `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`,
	} {
		t.Run(name, func(t *testing.T) {
			if code, body := serve(t, noConverter(t), conversion.Route{Name: "core", URL: "http://127.0.0.1:1"}).post("/admit/core/mutate", text); code != http.StatusBadRequest {
				t.Errorf("answered %d %s", code, body)
			}
		})
	}
}
