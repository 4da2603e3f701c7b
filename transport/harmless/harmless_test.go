package harmless_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/transport/harmless"
)

// sent says what an API server gets of a request, and whether it got anything.
type sent struct {
	body string
	is   bool
}

func (s *sent) RoundTrip(r *http.Request) (*http.Response, error) {
	s.is = true
	if r.Body != nil {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		s.body = string(text)
	}
	return httptest.NewRecorder().Result(), nil
}

func send(t *testing.T, prefix, method, url, body string, headers ...string) (got sent, err error) {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, "https://server"+url, reader)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer, err := harmless.New(prefix, &got).RoundTrip(request)
	if err == nil {
		_ = answer.Body.Close()
	}
	return got, err
}

const (
	object  = "/api/v1/namespaces/here/configmaps/one"
	objects = "/api/v1/namespaces/here/configmaps"
	crd     = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com"
)

func TestTransport_passes_what_changes_nothing(t *testing.T) {
	for _, request := range [][2]string{
		{"GET", object},
		{"GET", objects + "?limit=500&continue=x&labelSelector=a%3Db"},
		{"GET", objects + "?watch=false"},
		{"GET", crd},
		{"GET", "/api/v1/namespaces/here"},
		{"GET", "/api/v1/namespaces"},
		{"GET", "/api"},
		{"GET", "/api/"},
		{"GET", "/apis"},
		{"GET", "/api/v1"},
		{"GET", "/apis/apps"},
		{"GET", "/apis/apps/v1"},
		{"GET", "/readyz"},
		{"GET", "/version"},
		{"POST", objects + "?dryRun=All&fieldManager=capstan"},
		{"PATCH", object + "?dryRun=All&force=true"},
		{"PUT", object + "?dryRun=All"},
		{"DELETE", object + "?dryRun=All"},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"},
		{"POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews"},
		{"POST", "/apis/authorization.k8s.io/v1/namespaces/here/localsubjectaccessreviews"},
		{"POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews"},
	} {
		if got, err := send(t, "", request[0], request[1], ""); err != nil || !got.is {
			t.Errorf("%s %s: %v", request[0], request[1], err)
		}
	}
}

func TestTransport_refuses_whatever_could_change_something(t *testing.T) {
	for _, request := range [][2]string{
		{"POST", objects},
		{"PATCH", object},
		{"PUT", object},
		{"DELETE", object},
		{"DELETE", objects},
		{"POST", objects + "?dryRun="},
		{"POST", objects + "?dryRun=None"},
		{"POST", objects + "?dryRun=all"},
		{"POST", objects + "?dryRun=All&dryRun=None"},
		{"POST", objects + "?dryrun=All"},
		{"POST", objects + "?fieldManager=dryRun=All"},
		{"POST", objects + "#?dryRun=All"},
		{"POST", objects + "?a;dryRun=All"},
		{"DELETE", objects + "?dryRun=All"},
		{"POST", object + "?dryRun=All"},
		{"PATCH", objects + "?dryRun=All"},
		{"PUT", objects + "?dryRun=All"},
		{"HEAD", object},
		{"OPTIONS", object},
		{"CONNECT", object},
		{"TRACE", object + "?dryRun=All"},
		{"get", object},
		{"GET", objects + "?watch=true"},
		{"GET", objects + "?watch=1"},
		{"GET", objects + "?watch"},
		{"GET", objects + "?watch=false&watch=true"},
		{"GET", "/api/v1/watch/namespaces"},
		{"GET", "/api/v1/namespaces/here/pods/one/exec?command=sh"},
		{"POST", "/api/v1/namespaces/here/pods/one/exec?dryRun=All"},
		{"GET", "/api/v1/namespaces/here/pods/one/proxy/delete"},
		{"GET", "/api/v1/nodes/one/proxy/run"},
		{"GET", "/api/v1/proxy/nodes"},
		{"POST", "/api/v1/namespaces/here/pods/one/eviction?dryRun=All"},
		{"POST", "/api/v1/namespaces/here/serviceaccounts/one/token?dryRun=All"},
		{"PATCH", object + "/status?dryRun=All"},
		{"PUT", object + "/scale?dryRun=All"},
		{"GET", "/debug/pprof/profile"},
		{"GET", "/logs/x"},
		{"GET", "/"},
		{"GET", ""},
		{"POST", "/readyz?dryRun=All"},
		{"POST", "/apis/apps/v1?dryRun=All"},
		{"GET", "/api/v1/namespaces/here/../there/secrets/one"},
		{"GET", "/api/v1/namespaces/here%2Fsecrets/one"},
		{"GET", "/api/v1//secrets"},
		{"GET", "/apis/apps/v1/namespaces/here/deployments/"},
		{"POST", "/apis/authentication.k8s.io/v1/tokenreviews"},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/one"},
		{"POST", "/apis/authorization.example.com/v1/subjectaccessreviews"},
		{"PUT", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"},
	} {
		got, err := send(t, "", request[0], request[1], "")
		var refused *harmless.RefusedError
		if !errors.As(err, &refused) || got.is {
			t.Errorf("%s %s was sent: %v", request[0], request[1], err)
		}
	}
}

func TestTransport_refuses_other_protocols_and_methods_in_disguise(t *testing.T) {
	for _, header := range [][2]string{{"Upgrade", "SPDY/3.1"}, {"X-HTTP-Method-Override", "DELETE"}} {
		if got, err := send(t, "", "GET", object, "", header[0], header[1]); err == nil || got.is {
			t.Errorf("a request with %s: %s was sent", header[0], header[1])
		}
	}
}

func TestTransport_reads_what_a_deletion_says(t *testing.T) {
	const try = `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"1"},"dryRun":["All"]}`
	for _, url := range []string{object, object + "?dryRun=All"} {
		if got, err := send(t, "", "DELETE", url, try); err != nil || got.body != try {
			t.Errorf("a dry run was not sent as it was: %q, %v", got.body, err)
		}
	}
	for _, body := range []string{
		`{}`, `{"preconditions":{"uid":"1"}}`, `{"dryRun":[]}`, `{"dryRun":["None"]}`, `{"dryRun":["All"],"dryRun":[]}`, `{"dryRun":["All"],"dryRun":null}`,
		`dryRun: [All]`, ` `, `{"dryRun":["All"]` + strings.Repeat(" ", 64<<10) + `}`,
	} {
		if got, err := send(t, "", "DELETE", object+"?dryRun=All", body); err == nil || got.is {
			t.Errorf("a deletion with the options %.60q was sent", body)
		}
	}
}

func TestTransport_knows_where_the_API_server_is_found(t *testing.T) {
	if got, err := send(t, "/k8s/clusters/one/", "GET", "/k8s/clusters/one"+object, ""); err != nil || !got.is {
		t.Error(err)
	}
	if got, err := send(t, "/k8s/clusters/one", "GET", object, ""); err == nil || got.is {
		t.Error("a request beside the API server was sent")
	}
}

func TestTransport_lets_who_goes_on_looking_watch_and_no_more(t *testing.T) {
	for _, row := range []struct {
		method, url string
		is          bool
	}{
		{"GET", objects + "?watch=true&fieldSelector=metadata.name%3Done", true},
		{"GET", object, true},
		{"GET", "/api/v1/watch/namespaces", false},
		{"POST", objects + "?watch=true", false},
		{"DELETE", object + "?watch=true", false},
		{"GET", "/api/v1/namespaces/here/pods/one/exec?watch=true", false},
	} {
		request, err := http.NewRequestWithContext(t.Context(), row.method, "https://server"+row.url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		var got sent
		answer, err := harmless.NewWatching("", &got).RoundTrip(request)
		if err == nil {
			_ = answer.Body.Close()
		}
		if got.is != row.is || (err == nil) != row.is {
			t.Errorf("%s %s was sent: %v, %v", row.method, row.url, got.is, err)
		}
	}
}
