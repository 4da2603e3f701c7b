package protobuf

import (
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

func TestTextsOf_lets_a_client_address_its_own_groups_only(t *testing.T) {
	request, err := rewrite.ParseRequest(http.MethodDelete, &url.URL{Path: "/apis/" + rewrite.Standard + "/v1beta2/namespaces/n/machines/m"})
	if err != nil {
		t.Fatal(err)
	}
	texts := TextsOf(request, rewrite.ToServer)
	for given, want := range map[string]string{
		"v1":                               "v1",
		"apps/v1":                          "apps/v1",
		rewrite.Standard + "/v1beta2":      rewrite.Private + "/v1beta2",
		"ipam." + rewrite.Standard + "/v1": "ipam." + rewrite.Private + "/v1",
		rewrite.Private + "/v1beta2":       "",
		rewrite.Native + "/v1beta2":        "",
	} {
		got, err := texts.RootVersion(given)
		var wrong *rewrite.Error
		if got != want || errors.As(err, &wrong) != (want == "") {
			t.Errorf("%s: %q, %v", given, got, err)
		}
		if wrong != nil && wrong.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", given, wrong.Code)
		}
	}
}
