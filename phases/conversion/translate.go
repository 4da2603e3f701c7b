package conversion

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

const (
	mediaJSON  = "application/json"
	mediaPatch = "application/json-patch+json"
)

// about is a request about an object of a mapped kind, as which objects in reviews are rewritten.
var about = rewrite.Request{Class: rewrite.MappedKinds, Info: &request.RequestInfo{IsResourceRequest: true, Verb: "get"}}

// toClient turns an object into standard text.
func toClient(object []byte) ([]byte, error) {
	return io.ReadAll(about.Answer(http.StatusOK, mediaJSON, bytes.NewReader(object)))
}

// toServer turns an object into private text.
func toServer(object []byte) ([]byte, error) { return sent(mediaJSON, object) }

// patchToServer turns the values of a JSON Patch into private text, each at the place that its path leads to.
func patchToServer(patch []byte) ([]byte, error) { return sent(mediaPatch, patch) }

func sent(media string, text []byte) ([]byte, error) {
	_, body, err := about.Body(media, bytes.NewReader(text), nil) // only YAML asks for room
	if err != nil {
		return nil, err
	}
	turned, err := io.ReadAll(body)
	if err != nil {
		return nil, fmt.Errorf("rewriting it: %w", err)
	}
	return turned, nil
}
