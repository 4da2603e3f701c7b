package rewrite

import (
	"mime"
	"net/http"
	"strings"
)

// Protobuf is the media type of the API's objects in protobuf.
const Protobuf = "application/vnd.kubernetes.protobuf"

// Accept is what the server is asked for, given a client's Accept header: what
// cannot be rewritten is left out of it. Its error is an *Error with code 406 if
// nothing is left.
func (r *Request) Accept(header string) (string, error) {
	if r.Class == Opaque || strings.TrimSpace(header) == "" {
		return header, nil
	}
	var kept []string
	json := false
	for text := range strings.SplitSeq(header, ",") {
		media, params := mediaType(text)
		if isCBOR(media) || params["v"] == "v2beta1" && params["g"] == "apidiscovery.k8s.io" {
			continue
		}
		if media == mediaYAML {
			// JSON is YAML, too.
			media, text = mediaJSON, mediaJSON+strings.TrimPrefix(strings.TrimSpace(text), mediaYAML)
		}
		json = json || media == mediaJSON || media == "application/*" || media == "*/*"
		kept = append(kept, strings.TrimSpace(text))
	}
	// In protobuf a list says how long it is before what it holds.
	if json && (r.Info.Verb == "list" || r.Info.Verb == "deletecollection" || r.Class == Discovery) {
		kept = without(kept, Protobuf)
	}
	if len(kept) == 0 {
		return "", &Error{
			Code: http.StatusNotAcceptable, Offset: -1,
			Text: "nothing that the client accepts can be rewritten: accept application/json",
		}
	}
	return strings.Join(kept, ","), nil
}

// mediaType reads a range as forgivingly as the server does.
func mediaType(text string) (media string, params map[string]string) {
	media, params, err := mime.ParseMediaType(text)
	if err != nil {
		media, _, _ = strings.Cut(text, ";")
		media = strings.ToLower(strings.TrimSpace(media))
	}
	return media, params
}

func isCBOR(media string) bool {
	return media == "application/cbor" || media == "application/cbor-seq" || media == "application/apply-patch+cbor"
}

// without leaves out the ranges of one media type.
func without(ranges []string, media string) []string {
	var kept []string
	for _, text := range ranges {
		if found, _ := mediaType(text); found != media {
			kept = append(kept, text)
		}
	}
	return kept
}
