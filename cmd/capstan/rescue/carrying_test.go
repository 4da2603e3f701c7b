package rescue

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/phases/engine"
)

// kindAnswer announces a kind.
func kindAnswer(name, plural, verbs string) string {
	return fmt.Sprintf(`{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":%q,"kind":%q,"namespaced":true,"verbs":[%s]}]}`, plural, name, verbs)
}

// pageAnswer is a page of a list, with one object of revision 7, and the token of the next page.
func pageAnswer(uid, next string) string {
	return fmt.Sprintf(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"continue":%q},"items":[{"metadata":{"name":"a%s","namespace":"n","uid":%q,"annotations":{%q:"7"}}}]}`,
		next, uid, uid, engine.RevisionAnnotation)
}

func TestCarrying_counts_each_object_once_and_asks_only_for_kinds_that_can_be_applied(t *testing.T) {
	object := pageAnswer("1", "")
	answers := map[string]string{
		"/api":                     `{"kind":"APIVersions","versions":["v1"]}`,
		"/api/v1":                  kindAnswer("Role", "roles", `"list","patch"`),
		"/apis":                    `{"kind":"APIGroupList","groups":[{"name":"copy.test","versions":[{"groupVersion":"copy.test/v1","version":"v1"}]},{"name":"project.test","versions":[{"groupVersion":"project.test/v1","version":"v1"}]}]}`,
		"/apis/copy.test/v1":       kindAnswer("Role", "roles", `"list","patch"`),
		"/apis/project.test/v1":    kindAnswer("ProjectRequest", "projectrequests", `"list","create"`),
		"/api/v1/roles":            object,
		"/apis/copy.test/v1/roles": object,
	}
	got, err := carryingIn(t, func(u *url.URL) string { return answers[u.Path] })
	if err != nil || len(got) != 1 || len(got[7]) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestCarrying_asks_for_a_page_at_a_time(t *testing.T) {
	answers := map[string]string{"/api": `{"kind":"APIVersions","versions":["v1"]}`, "/api/v1": kindAnswer("Role", "roles", `"list","patch"`), "/apis": `{"kind":"APIGroupList"}`}
	got, err := carryingIn(t, func(u *url.URL) string {
		switch asked := u.Query(); {
		case u.Path != "/api/v1/roles":
			return answers[u.Path]
		case asked.Get("limit") == "" || asked.Get("labelSelector") == "":
			t.Errorf("%s was asked", u)
		case asked.Get("continue") == "":
			return pageAnswer("1", "next")
		}
		return pageAnswer("2", "")
	})
	if err != nil || len(got[7]) != 2 {
		t.Errorf("%v, %v", got, err)
	}
}

// carryingIn asks an API server that answers with a text, or refuses with an empty one.
func carryingIn(t *testing.T, answer func(*url.URL) string) (map[int64][]string, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text := answer(r.URL)
		if text == "" {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	c, err := NewCluster(&rest.Config{Host: server.URL}, "n")
	if err != nil {
		t.Fatal(err)
	}
	return c.carrying(t.Context())
}

func TestRecover_whose_time_is_over_is_an_error(t *testing.T) {
	c, err := NewCluster(&rest.Config{Host: "http://127.0.0.1:1"}, "ns")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p, err := c.Recover(ctx, nil); err == nil {
		t.Errorf("it has seen %+v", p)
	}
}

// The pause of this test is over by the clock of this machine, and lasts by that of the API server.
func TestRecover_goes_by_the_API_servers_clock(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Date", "Sat, 31 Jan 2026 12:30:00 GMT")
		_, _ = w.Write([]byte(`{"kind":"ClusterAPI","apiVersion":"operator.openshift.io/v1alpha1","metadata":{"name":"cluster","annotations":{
			"capi-operator.openshift.io/pause":"by: anna\nat: 2026-01-31T12:00:00Z\nuntil: 2026-01-31T13:00:00Z\nreason: etcd is slow"}}}`))
	}))
	t.Cleanup(server.Close)
	c, err := NewCluster(&rest.Config{Host: server.URL}, "ns")
	if err != nil {
		t.Fatal(err)
	}
	if p, err := c.Recover(t.Context(), nil); err != nil || p.Paused == "" {
		t.Errorf("paused %q, %v", p.Paused, err)
	}
}
