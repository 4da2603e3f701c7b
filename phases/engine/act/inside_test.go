package act

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/phases/engine/enginetest"
)

// groupsServer serves Secrets, a kind of a CRD, and an API group of another server, and answers lists in a namespace as it is told.
type groupsServer struct {
	secrets, things, copies, more answer

	mu    sync.Mutex
	asked map[string]int
}

type answer struct {
	status int
	body   string
}

// of is an answer with objects.
func of(objects ...string) answer {
	return answer{http.StatusOK, fmt.Sprintf(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[%s]}`, strings.Join(objects, ","))}
}

// refused is how API servers say no.
func refused(status int, reason metav1.StatusReason) answer {
	return answer{status, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":"refused"}`, status, reason)}
}

func (s *groupsServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked[r.URL.Path]++
	s.mu.Unlock()
	resources := func(group string, kinds ...string) answer {
		var all []string
		for _, kind := range kinds {
			all = append(all, fmt.Sprintf(`{"name":"%ss","kind":%q,"namespaced":true,"verbs":["list"]}`, strings.ToLower(kind), kind))
		}
		return answer{http.StatusOK, fmt.Sprintf(`{"kind":"APIResourceList","groupVersion":%q,"resources":[%s]}`, group, strings.Join(all, ","))}
	}
	group := func(name string) string {
		return fmt.Sprintf(`{"name":%q,"versions":[{"groupVersion":"%[1]s/v1","version":"v1"}],"preferredVersion":{"groupVersion":"%[1]s/v1","version":"v1"}}`, name)
	}
	answer, known := map[string]answer{
		"/readyz":             {http.StatusOK, "ok"},
		"/api":                {http.StatusOK, `{"kind":"APIVersions","versions":["v1"]}`},
		"/apis":               {http.StatusOK, `{"kind":"APIGroupList","groups":[` + group("crd.test") + "," + group("other.test") + `]}`},
		"/api/v1":             resources("v1", "Secret"),
		"/apis/crd.test/v1":   resources("crd.test/v1", "Thing"),
		"/apis/other.test/v1": resources("other.test/v1", "Copy", "More"),
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions": of(),
		"/apis/apiregistration.k8s.io/v1/apiservices": {http.StatusOK, `{"items":[
			{"metadata":{"name":"v1.","labels":{"kube-aggregator.kubernetes.io/automanaged":"onstart"}},"spec":{"version":"v1"}},
			{"metadata":{"name":"v1.crd.test","labels":{"kube-aggregator.kubernetes.io/automanaged":"true"}},"spec":{"group":"crd.test","version":"v1"}},
			{"metadata":{"name":"v1.other.test"},"spec":{"group":"other.test","version":"v1","service":{}}}]}`},
		"/api/v1/namespaces/old/secrets":           s.secrets,
		"/apis/crd.test/v1/namespaces/old/things":  s.things,
		"/apis/other.test/v1/namespaces/old/copys": s.copies,
		"/apis/other.test/v1/namespaces/old/mores": s.more,
	}[r.URL.Path]
	if !known {
		answer.status = http.StatusNotFound
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(answer.status)
	_, _ = w.Write([]byte(answer.body))
}

// contents are what is found out about the namespace.
func (s *groupsServer) contents(t *testing.T) (string, error) {
	t.Helper()
	s.asked = map[string]int{}
	server := httptest.NewServer(s)
	defer server.Close()
	e, err := New(Config{REST: &rest.Config{Host: server.URL, QPS: -1}, Namespace: "n", Owner: enginetest.Owner, FieldManager: "capstan", InventoryPrefix: "capstan-inventory-"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	contents, err := e.namespaceContents(ctx, "old")
	return contents.What, err
}

func TestNamespaceContents_another_server_has_no_say_about_kube_apiservers_objects(t *testing.T) {
	const mine = `{"metadata":{"namespace":"old","name":"mine","uid":"1"}}`
	const owned = `{"metadata":{"namespace":"old","name":"mine","uid":"1","ownerReferences":[{"apiVersion":"other.test/v1","kind":"Copy","name":"x","uid":"2"}]}}`
	for name, row := range map[string]struct {
		server *groupsServer
		want   string
	}{
		"an honest copy":           {&groupsServer{secrets: of(mine), copies: of(mine)}, "1 object"},
		"a copy that has an owner": {&groupsServer{secrets: of(mine), copies: of(owned), more: of(owned)}, "1 object"},
		"a copy of what has one":   {&groupsServer{secrets: of(owned), copies: of(mine)}, ""},
		"what nobody else serves":  {&groupsServer{secrets: of(), copies: of(mine)}, "1 object"},
		"an empty namespace":       {&groupsServer{secrets: of()}, ""},
	} {
		for _, empty := range []*answer{&row.server.things, &row.server.copies, &row.server.more} {
			if empty.status == 0 {
				*empty = of()
			}
		}
		if got, err := row.server.contents(t); err != nil || got != row.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, row.want)
		}
	}
}

func TestNamespaceContents_is_empty_only_where_every_list_says_so(t *testing.T) {
	const failed, retained, empty = "failed", "retained", "empty"
	text := answer{http.StatusOK, "<html>"}
	endless := answer{http.StatusOK, `{"kind":"PartialObjectMetadataList","metadata":{"continue":"x"},"items":[]}`}
	again := answer{http.StatusOK, `{"kind":"PartialObjectMetadataList","metadata":{"continue":"x"},"items":[{"metadata":{"name":"default","uid":"1","ownerReferences":[{"apiVersion":"v1","kind":"Secret"}]}}]}`}
	for name, row := range map[string]struct {
		answer            answer
		own, crd, another string
	}{
		"not found":           {refused(http.StatusNotFound, metav1.StatusReasonNotFound), failed, empty, retained},
		"no such verb":        {refused(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed), failed, empty, retained},
		"bad request":         {refused(http.StatusBadRequest, metav1.StatusReasonBadRequest), failed, retained, retained},
		"not acceptable":      {refused(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable), failed, retained, retained},
		"unsupported":         {refused(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType), failed, retained, retained},
		"no JSON":             {text, failed, retained, retained},
		"an object":           {answer{http.StatusOK, `{"kind":"Secret","metadata":{"name":"x"}}`}, failed, retained, retained},
		"a list with no end":  {endless, failed, retained, retained},
		"a page that repeats": {again, failed, retained, retained},
		"forbidden":           {refused(http.StatusForbidden, metav1.StatusReasonForbidden), retained, retained, retained},
		"an internal error":   {refused(http.StatusInternalServerError, metav1.StatusReasonInternalError), retained, retained, retained},
		"too slow":            {refused(http.StatusGatewayTimeout, metav1.StatusReasonTimeout), failed, failed, retained},
		"a bad gateway":       {refused(http.StatusBadGateway, ""), retained, retained, retained},
	} {
		for whose, want := range map[string]string{"own": row.own, "crd": row.crd, "another": row.another} {
			s := &groupsServer{secrets: of(), things: of(), copies: of(), more: of()}
			*map[string]*answer{"own": &s.secrets, "crd": &s.things, "another": &s.copies}[whose] = row.answer
			got, err := s.contents(t)
			switch {
			case want == failed && err == nil, want != failed && err != nil, want == retained && !strings.Contains(got, "cannot be read"), want == empty && got != "":
				t.Errorf("%s, %s: %q, %v; want %s", name, whose, got, err, want)
			}
		}
	}
}

func TestNamespaceContents_asks_a_server_that_does_not_answer_only_once(t *testing.T) {
	slow := refused(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)
	s := &groupsServer{secrets: of(), things: of(), copies: slow, more: slow}
	if got, err := s.contents(t); err != nil || !strings.Contains(got, "other.test cannot be read") {
		t.Errorf("%q, %v", got, err)
	}
	if asked := s.asked["/apis/other.test/v1/namespaces/old/copys"] + s.asked["/apis/other.test/v1/namespaces/old/mores"]; asked != 1 {
		t.Errorf("it was asked %d times", asked)
	}
}
