package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/utils/ptr"
)

// before is a redirect before a server that keeps the last body.
func before(t *testing.T) (front *httptest.Server, routes string, last *string) {
	t.Helper()
	last, routes = new(string), filepath.Join(t.TempDir(), "routes.yaml")
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*last = r.Header.Get("Content-Type") + " " + string(text)
	}))
	t.Cleanup(server.Close)
	next, err := newFront(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := newRedirect(next, "https://shim:1", []byte("of the shim"), routes)
	if err != nil {
		t.Fatal(err)
	}
	front = httptest.NewServer(handler)
	t.Cleanup(front.Close)
	return front, routes, last
}

func send(t *testing.T, method, url, media string, body []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", media)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		t.Fatal(answer.Status, string(text))
	}
}

func TestRedirect_has_a_webhook_in_protobuf_name_the_shim_and_the_shim_name_the_suite(t *testing.T) {
	front, routes, last := before(t)
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{
		TypeMeta:   metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "MutatingWebhookConfiguration"},
		ObjectMeta: metav1.ObjectMeta{Name: "hooks"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "a.b.c", ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:2/mutate-machine"), CABundle: []byte("of the suite")},
		}},
	}
	var body bytes.Buffer
	if err := protobuf.NewSerializer(nil, nil).Encode(configuration, &body); err != nil {
		t.Fatal(err)
	}
	send(t, http.MethodPost, front.URL+"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", "application/vnd.kubernetes.protobuf", body.Bytes())
	if !strings.HasPrefix(*last, "application/json ") || !strings.Contains(*last, `"url":"https://shim:1/admit/suite/mutate-machine"`) {
		t.Error(*last)
	}
	text, err := os.ReadFile(routes)
	if err != nil || !strings.Contains(string(text), "url: https://127.0.0.1:2\n") {
		t.Error(string(text), err)
	}
	trusted, err := os.ReadFile(filepath.Join(filepath.Dir(routes), "suite.crt"))
	if err != nil || string(trusted) != "of the suite" {
		t.Error(string(trusted), err)
	}
}

func TestRedirect_has_a_definition_be_converted_by_the_shim(t *testing.T) {
	front, _, last := before(t)
	const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"m"},"spec":{"conversion":{"strategy":"Webhook",
"webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:2/convert","caBundle":"eA=="}}}}}`
	send(t, http.MethodPut, front.URL+"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/m", "application/json", []byte(definition))
	if !strings.Contains(*last, `"url":"https://shim:1/convert"`) || strings.Contains(*last, "eA==") {
		t.Error(*last)
	}
}

func TestRedirect_passes_everything_else_on_as_it_is(t *testing.T) {
	front, _, last := before(t)
	const odd = `{"a" : 1,"a":"https://127.0.0.1:2/convert"}`
	for _, path := range []string{"/apis/cluster.x-k8s.io/v1beta2/namespaces/a/machines", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/m/status"} {
		send(t, http.MethodPut, front.URL+path, "application/json", []byte(odd))
		if *last != "application/json "+odd {
			t.Errorf("%s: %s", path, *last)
		}
	}
}
