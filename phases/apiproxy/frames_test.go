package apiproxy

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("out of range") }

func TestProxy_survives_a_panic_in_what_translates_frames(t *testing.T) {
	proxy, _ := front(t, http.NotFound)
	asked, err := url.Parse(machines + "?watch=1")
	if err != nil {
		t.Fatal(err)
	}
	request, err := rewrite.ParseRequest(http.MethodGet, asked)
	if err != nil {
		t.Fatal(err)
	}
	x := &exchange{request: request}
	header := http.Header{"Content-Type": {"application/vnd.kubernetes.protobuf;stream=watch"}}
	response := &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(panicking{})}
	if err := proxy.answerBody(response, x); err != nil {
		t.Fatal(err)
	}
	err = x.events.to(io.Discard)
	var broken *rewrite.Error
	if !errors.As(err, &broken) || broken.Code != http.StatusBadGateway {
		t.Error(err)
	}
}
