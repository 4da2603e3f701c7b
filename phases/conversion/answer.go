package conversion

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tidwall/gjson"
	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const (
	// maxConverted bounds an object of an answer, and maxPatch a patch, which is text of base64: what is converted may grow.
	maxConverted, maxPatch = 2 * maxObject, 2 * maxObject
	// maxSaid bounds all else of an answer together, in bytes, such as warnings.
	maxSaid = 2 << 20
)

// readConverted reads what the server of a route answers a ConversionReview of so many objects; nil where it is no answer.
func readConverted(body []byte, objects int) (*apiextensionsv1.ConversionResponse, error) {
	response := &apiextensionsv1.ConversionResponse{}
	is, err := readResponse(body, response, []string{"uid", "convertedObjects", "result"}, func(key string, value gjson.Result) (bool, error) {
		if key != "convertedObjects" || !value.IsArray() {
			return false, nil
		}
		return true, checkConverted(value, objects)
	})
	if err != nil || !is {
		return nil, err
	}
	return response, nil
}

func checkConverted(list gjson.Result, objects int) error {
	count, large := 0, false
	list.ForEach(func(_, object gjson.Result) bool {
		count++
		large = len(object.Raw) > maxConverted
		return count <= objects && !large
	})
	switch {
	case large:
		return fmt.Errorf("its object %d has more than %d bytes", count, maxConverted)
	case count > objects:
		return fmt.Errorf("it has more objects than the request, which has %d", objects)
	}
	return nil
}

// readAdmitted reads what the server of a route answers an AdmissionReview; nil where it is no answer.
func readAdmitted(body []byte) (*admissionv1.AdmissionResponse, error) {
	response := &admissionv1.AdmissionResponse{}
	known := []string{"uid", "allowed", "status", "patch", "patchType", "auditAnnotations", "warnings"}
	is, err := readResponse(body, response, known, func(key string, value gjson.Result) (bool, error) {
		if key != "patch" || value.Type != gjson.String {
			return false, nil
		}
		if len(value.Raw) > maxPatch {
			return true, fmt.Errorf("its patch has more than %d bytes", maxPatch)
		}
		return true, nil
	})
	if err != nil || !is {
		return nil, err
	}
	return response, nil
}

// readResponse reads the response of a review, and refuses before anything is decoded what would take many times the memory of its text.
// What else there is, such as the request that it is for, is not looked at.
func readResponse(body []byte, into any, known []string, kept func(key string, value gjson.Result) (bool, error)) (is bool, err error) {
	if !json.Valid(body) {
		return false, errors.New("it is no JSON")
	}
	var response gjson.Result
	if err := eachKey(gjson.ParseBytes(body), []string{"response"}, func(key string, value gjson.Result) error {
		if key == "response" {
			response = value
		}
		return nil
	}); err != nil || !response.IsObject() {
		return false, err
	}
	if err := checkRest(response, "response", known, maxSaid, kept); err != nil {
		return false, err
	}
	return true, json.Unmarshal([]byte(response.Raw), into)
}
