package apiproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/rewrite"
)

// reasonUpstream is the reason of answers about the API server, so that nobody takes them for its own.
const reasonUpstream metav1.StatusReason = "ProxyUpstream"

// answerLimit bounds the message of an answer, in bytes.
const answerLimit = 1024

// refusal is an answer of the proxy's own: what is wrong, and what to do.
type refusal struct {
	code   int
	reason metav1.StatusReason
	text   string
	// after is how many seconds to wait before trying again, if not 0.
	after int32
}

func (r *refusal) Error() string { return r.text }

func refuse(code int, format string, args ...any) *refusal {
	return &refusal{code: code, reason: reasons[code], text: fmt.Sprintf(format, args...)}
}

var reasons = map[int]metav1.StatusReason{
	http.StatusBadRequest:            metav1.StatusReasonBadRequest,
	http.StatusUnauthorized:          metav1.StatusReasonUnauthorized,
	http.StatusForbidden:             metav1.StatusReasonForbidden,
	http.StatusNotFound:              metav1.StatusReasonNotFound,
	http.StatusNotAcceptable:         metav1.StatusReasonNotAcceptable,
	http.StatusPreconditionFailed:    metav1.StatusReasonUnknown,
	http.StatusRequestEntityTooLarge: metav1.StatusReasonRequestEntityTooLarge,
	http.StatusRequestTimeout:        metav1.StatusReasonTimeout,
	http.StatusUnsupportedMediaType:  metav1.StatusReasonUnsupportedMediaType,
	http.StatusTooManyRequests:       metav1.StatusReasonTooManyRequests,
	http.StatusBadGateway:            reasonUpstream,
	http.StatusGatewayTimeout:        reasonUpstream,
}

// refusalOf is the answer for an error of a translation of what the client sent.
func refusalOf(err error) *refusal {
	var own *refusal
	if errors.As(err, &own) {
		return own
	}
	var wrong *rewrite.Error
	if errors.As(err, &wrong) {
		return refuse(wrong.Code, "%s", wrong.Error())
	}
	return refuse(http.StatusBadRequest, "%v", err)
}

// write answers with a Status.
func (r *refusal) write(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-cache, private")
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure,
		Message:  message.Shorten("kube-apiserver-proxy: "+r.text, answerLimit),
		Reason:   r.reason,
		Code:     int32(r.code), //nolint:gosec // an HTTP status
	}
	if r.after > 0 {
		header.Set("Retry-After", strconv.Itoa(int(r.after)))
		status.Details = &metav1.StatusDetails{RetryAfterSeconds: r.after}
	}
	w.WriteHeader(r.code)
	_ = json.NewEncoder(w).Encode(status) // a client that is gone misses nothing
}
