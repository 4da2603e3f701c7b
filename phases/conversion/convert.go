package conversion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/tidwall/gjson"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

// convertHere answers a ConversionReview by the linked packages. The answer is a review also where it fails, so that who asked the
// API server reads why.
func (s *Shim) convertHere(ctx context.Context, a asked) ([]byte, *failure) {
	review, desired, wrong := readConversion(a.body)
	if wrong != nil {
		return nil, wrong
	}
	converted := make([]runtime.RawExtension, len(review.Request.Objects))
	for i, object := range review.Request.Objects {
		text, err := s.convertInTurn(ctx, object.Raw, desired)
		if err != nil {
			return answerConversion(review, nil, failed(impossible, http.StatusOK, "converting %s: %w", told(object.Raw, i, review.Request), err))
		}
		converted[i] = runtime.RawExtension{Raw: text}
	}
	return answerConversion(review, converted, nil)
}

// convertInTurn waits while others convert so much that there is no memory for this one: a list of empty elements takes a hundred
// times as much decoded as its text.
func (s *Shim) convertInTurn(ctx context.Context, object []byte, desired string) ([]byte, error) {
	// Where nobody waits, a context that has ended is not looked at.
	if ctx.Err() != nil || s.decoded.Acquire(ctx, int64(len(object))) != nil {
		return nil, errors.New("the time is up")
	}
	defer s.decoded.Release(int64(len(object)))
	return s.convertOne(object, desired)
}

var errPanic = errors.New("the packages of Cluster API met an error of their own; look at the object, it may be malformed")

// convertOne converts an object of private text. Who wrote the linked packages may not have thought of every object.
func (s *Shim) convertOne(object []byte, desired string) (converted []byte, err error) {
	defer func() {
		if recover() != nil {
			converted, err = nil, errPanic
		}
	}()
	standard, err := toClient(object)
	if err != nil {
		return nil, err
	}
	if gjson.GetBytes(standard, "kind").String() == "" {
		return nil, errors.New("it says no kind")
	}
	if gjson.GetBytes(standard, "apiVersion").String() == desired {
		return object, nil
	}
	if standard, err = s.convert(standard, desired); err != nil {
		return nil, err
	}
	return toServer(standard)
}

// convertThere has the server of a route convert.
func (s *Shim) convertThere(ctx context.Context, a asked) ([]byte, *failure) {
	review, desired, wrong := readConversion(a.body)
	if wrong != nil {
		return nil, wrong
	}
	request := *review.Request
	request.DesiredAPIVersion = desired
	request.Objects = make([]runtime.RawExtension, len(review.Request.Objects))
	for i, object := range review.Request.Objects {
		standard, err := toClient(object.Raw)
		if err != nil {
			return answerConversion(review, nil, failed(malformed, http.StatusOK, "translating %s: %w", told(object.Raw, i, review.Request), err))
		}
		request.Objects[i] = runtime.RawExtension{Raw: standard}
	}
	var answer *apiextensionsv1.ConversionResponse
	if wrong := s.ask(ctx, a, apiextensionsv1.ConversionReview{TypeMeta: review.TypeMeta, Request: &request}, func(body []byte) (err error) {
		answer, err = readConverted(body, len(request.Objects))
		return err
	}); wrong != nil {
		wrong.err = fmt.Errorf("converting %s: %w", toldAll(review.Request), wrong.err)
		return answerConversion(review, nil, wrong)
	}
	converted, err := convertedBy(answer, review.Request)
	if err != nil {
		return answerConversion(review, nil, failed(refused, http.StatusOK, "converting %s by route %s: %w", toldAll(review.Request), a.route, err))
	}
	return answerConversion(review, converted, nil)
}

// convertedBy are the private objects of another's answer, which has to be for the very request.
func convertedBy(answer *apiextensionsv1.ConversionResponse, request *apiextensionsv1.ConversionRequest) ([]runtime.RawExtension, error) {
	switch {
	case answer == nil:
		return nil, errors.New("the answer is no review")
	case answer.UID != request.UID:
		return nil, fmt.Errorf("the answer is for the request %s, and this is %s", answer.UID, request.UID)
	case answer.Result.Status != metav1.StatusSuccess:
		return nil, fmt.Errorf("it was refused: %s", answer.Result.Message)
	case len(answer.ConvertedObjects) != len(request.Objects):
		return nil, fmt.Errorf("the answer has %d objects, and the request %d", len(answer.ConvertedObjects), len(request.Objects))
	}
	converted := make([]runtime.RawExtension, len(answer.ConvertedObjects))
	for i, object := range answer.ConvertedObjects {
		private, err := toServer(object.Raw)
		if err != nil {
			return nil, fmt.Errorf("translating object %d back: %w", i+1, err)
		}
		converted[i] = runtime.RawExtension{Raw: private}
	}
	return converted, nil
}

// readConversion reads a review, and says which standard version it desires.
func readConversion(body []byte) (*apiextensionsv1.ConversionReview, string, *failure) {
	review := &apiextensionsv1.ConversionReview{}
	if err := checkConversion(body); err != nil {
		return nil, "", failed(malformed, http.StatusRequestEntityTooLarge, "reading the ConversionReview: %w", err)
	}
	if err := json.Unmarshal(body, review); err != nil {
		return nil, "", failed(malformed, http.StatusBadRequest, "reading the ConversionReview: %w", err)
	}
	if review.Kind != "ConversionReview" || review.GroupVersionKind().GroupVersion() != apiextensionsv1.SchemeGroupVersion {
		return nil, "", failed(malformed, http.StatusBadRequest, "the body is a %s of %s, and no ConversionReview of %s", review.Kind, review.APIVersion, apiextensionsv1.SchemeGroupVersion)
	}
	if review.Request == nil || review.Request.UID == "" {
		return nil, "", failed(malformed, http.StatusBadRequest, "the ConversionReview has no request, or one without a uid")
	}
	desired, match := rewrite.ToClient.GroupVersion(review.Request.DesiredAPIVersion)
	if match != rewrite.Mapped {
		return nil, "", failed(malformed, http.StatusBadRequest, "%s is no version of a private type, and no other is converted here: look at the conversion of its definition", review.Request.DesiredAPIVersion)
	}
	return review, desired, nil
}

// answerConversion writes the answer to a review: with what was converted, or with what is wrong.
func answerConversion(review *apiextensionsv1.ConversionReview, converted []runtime.RawExtension, wrong *failure) ([]byte, *failure) {
	response := &apiextensionsv1.ConversionResponse{UID: review.Request.UID, ConvertedObjects: converted, Result: metav1.Status{Status: metav1.StatusSuccess}}
	if wrong != nil {
		response.ConvertedObjects = []runtime.RawExtension{}
		response.Result = metav1.Status{Status: metav1.StatusFailure, Message: shorten(wrong.Error())}
	}
	text, err := json.Marshal(apiextensionsv1.ConversionReview{TypeMeta: review.TypeMeta, Response: response})
	if err != nil {
		return nil, failed(impossible, http.StatusInternalServerError, "writing the answer: %w", err)
	}
	return text, wrong
}

// told names an object of a request, and what is to become of it.
func told(object []byte, at int, request *apiextensionsv1.ConversionRequest) string {
	fields := gjson.GetManyBytes(object, "kind", "metadata.namespace", "metadata.name", "apiVersion")
	name := fields[2].String()
	if namespace := fields[1].String(); namespace != "" {
		name = namespace + "/" + name
	}
	return fmt.Sprintf("%s %s, object %d of %d, from %s to %s", fields[0].String(), name, at+1, len(request.Objects), fields[3].String(), request.DesiredAPIVersion)
}

// toldAll names the objects of a request by the first of them.
func toldAll(request *apiextensionsv1.ConversionRequest) string {
	if len(request.Objects) == 0 {
		return "nothing to " + request.DesiredAPIVersion
	}
	return told(request.Objects[0].Raw, 0, request)
}
