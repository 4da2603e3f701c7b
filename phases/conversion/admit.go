package conversion

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/rewrite"
)

// maxText bounds what the shim says of an error.
const maxText = 1024

func shorten(text string) string { return message.Shorten(text, maxText) }

// admit has the server of a route admit an object, or not. Where nobody can be asked there is no answer, and the API server does
// what the configuration of the webhook says, as it would without the shim.
func (s *Shim) admit(ctx context.Context, a asked) ([]byte, *failure) {
	if _, err := s.routes.to(a.route); err != nil {
		return nil, failed(unknown, http.StatusBadGateway, "%w", err)
	}
	if err := checkAdmission(a.body); err != nil {
		return nil, failed(malformed, http.StatusRequestEntityTooLarge, "reading the AdmissionReview: %w", err)
	}
	review := &admissionv1.AdmissionReview{}
	if err := json.Unmarshal(a.body, review); err != nil {
		return nil, failed(malformed, http.StatusBadRequest, "reading the AdmissionReview: %w", err)
	}
	if review.Kind != "AdmissionReview" || review.GroupVersionKind().GroupVersion() != admissionv1.SchemeGroupVersion {
		return nil, failed(malformed, http.StatusBadRequest, "the body is a %s of %s, and no AdmissionReview of %s", review.Kind, review.APIVersion, admissionv1.SchemeGroupVersion)
	}
	if review.Request == nil || review.Request.UID == "" {
		return nil, failed(malformed, http.StatusBadRequest, "the AdmissionReview has no request, or one without a uid")
	}
	about := toldAdmission(review.Request)
	standard, err := standardRequest(review.Request)
	if err != nil {
		return nil, failed(malformed, http.StatusBadRequest, "translating %s: %w", about, err)
	}
	var answer *admissionv1.AdmissionResponse
	if wrong := s.ask(ctx, a, admissionv1.AdmissionReview{TypeMeta: review.TypeMeta, Request: standard}, func(body []byte) (err error) {
		answer, err = readAdmitted(body)
		return err
	}); wrong != nil {
		wrong.err = fmt.Errorf("%s is not admitted: %w", about, wrong.err)
		return nil, wrong
	}
	if err := privateResponse(answer, review.Request); err != nil {
		return nil, failed(refused, http.StatusBadGateway, "%s is not admitted: the answer of route %s: %w", about, a.route, err)
	}
	text, err := json.Marshal(admissionv1.AdmissionReview{TypeMeta: review.TypeMeta, Response: answer})
	if err != nil {
		return nil, failed(internal, http.StatusInternalServerError, "writing the answer: %w", err)
	}
	return text, nil
}

// standardRequest is a request in standard text: its groups, and its objects.
func standardRequest(private *admissionv1.AdmissionRequest) (*admissionv1.AdmissionRequest, error) {
	r := private.DeepCopy()
	for _, group := range groupsOf(r) {
		*group, _ = rewrite.ToClient.Group(*group)
	}
	for _, raw := range []*runtime.RawExtension{&r.Object, &r.OldObject} {
		if len(raw.Raw) == 0 || string(raw.Raw) == "null" {
			continue
		}
		text, err := toClient(raw.Raw)
		if err != nil {
			return nil, err
		}
		raw.Raw = text
	}
	return r, nil
}

func groupsOf(r *admissionv1.AdmissionRequest) []*string {
	groups := []*string{&r.Kind.Group, &r.Resource.Group}
	if r.RequestKind != nil {
		groups = append(groups, &r.RequestKind.Group)
	}
	if r.RequestResource != nil {
		groups = append(groups, &r.RequestResource.Group)
	}
	return groups
}

// privateResponse translates an answer back, which has to be for the very request: the values of its patch, and the group that it
// tells of. A message is text for people: the proxy of whoever reads it turns private groups into standard ones, and these stay.
func privateResponse(r *admissionv1.AdmissionResponse, request *admissionv1.AdmissionRequest) error {
	switch {
	case r == nil:
		return fmt.Errorf("it is no review")
	case r.UID != request.UID:
		return fmt.Errorf("it is for the request %s, and this is %s", r.UID, request.UID)
	case len(r.Patch) > 0 && (r.PatchType == nil || *r.PatchType != admissionv1.PatchTypeJSONPatch):
		return fmt.Errorf("it has a patch that is no JSONPatch")
	}
	if r.Result != nil && r.Result.Details != nil {
		r.Result.Details.Group, _ = rewrite.ToServer.Group(r.Result.Details.Group)
	}
	if len(r.Patch) == 0 {
		return nil
	}
	patch, err := patchToServer(r.Patch)
	if err != nil {
		return fmt.Errorf("translating its patch back: %w", err)
	}
	r.Patch = patch
	return nil
}

// toldAdmission names what is to be admitted.
func toldAdmission(r *admissionv1.AdmissionRequest) string {
	name := r.Name
	if r.Namespace != "" {
		name = r.Namespace + "/" + name
	}
	return fmt.Sprintf("%s %s of %s/%s", r.Kind.Kind, name, r.Kind.Group, r.Kind.Version)
}
