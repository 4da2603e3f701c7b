package support

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/cmd/capstan/support/archive"
	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// canary is what is planted where nothing may be taken from.
const canary = "canary-4f8e1c"

// server is an API server that has a few answers by path, and knows nothing else.
type server struct {
	mu      sync.Mutex
	answers map[string]string
	// refused are paths that nobody may ask.
	refused []string
	asked   []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.Method+" "+r.URL.Path)
	said, there := s.answers[r.URL.Path]
	switch {
	case slices.Contains(s.refused, r.URL.Path):
		fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
	case !there:
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	default:
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/log") {
			w.Header().Set("Content-Type", "text/plain")
		}
		fmt.Fprint(w, said)
	}
}

// fail answers with a text that quotes what it was given, as proxies and token servers do.
func fail(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason,
		Message: "you gave " + canary, Details: &metav1.StatusDetails{Name: canary},
	})
}

const (
	operators = "/apis/config.openshift.io/v1/clusteroperators/cluster-api"
	installer = "/apis/operator.openshift.io/v1alpha1/clusterapis/cluster"
	ops       = "/api/v1/namespaces/ops/"
)

// cluster has canaries in all that an allowlist leaves out.
func answers() map[string]string {
	list := func(kind, items string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"%sList","metadata":{},"items":[%s]}`, kind, items)
	}
	annotations := `"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"` + canary + `"},"labels":{"a":"` + canary + `"},` +
		`"managedFields":[{"manager":"` + canary + `"}],`
	status := `"env":[{"name":"A","value":"` + canary + `"}],"args":["` + canary + `"]`
	pod := func(name string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{` + annotations + `"name":"` + name + `","namespace":"ops"},
			"spec":{"containers":[{"name":"capstan",` + status + `}]},
			"status":{"phase":"Running","message":"` + canary + `","containerStatuses":[{"name":"capstan","image":"i","imageID":"d","restartCount":1,
			"state":{"waiting":{"reason":"ImagePullBackOff","message":"the token server says ` + canary + `"}},
			"lastState":{"terminated":{"exitCode":2,"reason":"Error","message":"` + canary + `"}}}]}}`
	}
	return map[string]string{
		"/version": `{"gitVersion":"v1.33.0","platform":"linux/amd64"}`,
		"/apis/config.openshift.io/v1/clusterversions/version": `{"kind":"ClusterVersion","metadata":{` + annotations + `"name":"version"},
			"spec":{"clusterID":"x","upstream":"http://` + canary + `"},"status":{"desired":{"version":"4.22.0"},"conditions":[{"type":"A","message":"` + canary + `"}]}}`,
		installer: `{"kind":"ClusterAPI","metadata":{` + annotations + `"name":"cluster"},"status":{"currentRevision":"r"}}`,
		operators: `{"kind":"ClusterOperator","metadata":{` + annotations + `"name":"cluster-api"},"status":{
			"conditions":[{"type":"Available","status":"True","message":"GET https://u:` + canary + `@registry.example/v2: \"token\":\"` + canary + `\", Bearer ` + canary + `"}],
			"extension":{"other":"` + canary + `","clusterapi":{"state":"Installed"},"clusterapiDetail":{"contested":[
				{"object":"ConfigMap ops/a","field":".data"},{"object":"Secret ops/b","field":".data"}]}}}}`,
		"/apis/apiextensions.openshift.io/v1alpha1/compatibilityrequirements": list("CompatibilityRequirement", `{"kind":"CompatibilityRequirement",
			"metadata":{`+annotations+`"name":"req"},"spec":{"compatibilitySchema":{"customResourceDefinition":{"type":"YAML","data":"`+canary+`"}}},"status":{"crdName":"things.example.com"}}`),
		ops + "configmaps/capstan-history": `{"kind":"ConfigMap","metadata":{` + annotations + `"name":"capstan-history"},"data":{"history.json":"{\"entries\":[1]}","other":"` + canary + `"}}`,
		ops + "configmaps":                 list("ConfigMap", `{"kind":"ConfigMap","metadata":{"name":"other"},"data":{"a":"`+canary+`"}},{"kind":"ConfigMap","metadata":{"name":"capstan-inventory-1"},"data":{"a":"`+canary+`"}}`),
		ops + "pods":                       list("Pod", pod("one")),
		ops + "pods/one/log":               "GET http://u:" + canary + "@proxy.example\nAuthorization: Basic " + canary + "\n\x1b[2Jall is well\n",
		"/api/v1/namespaces/capi/pods":     list("Pod", ""),
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com": `{"kind":"CustomResourceDefinition","metadata":{` + annotations + `"name":"things.example.com"},
			"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"description":"` + canary + `"}}}]},"status":{"storedVersions":["v1"]}}`,
		"/apis/events.k8s.io/v1/namespaces/default/events": list("Event", `{"kind":"Event","metadata":{`+annotations+`"name":"a"},"reportingController":"capstan","note":"Installed"},
			{"kind":"Event","metadata":{"name":"b"},"reportingController":"kubelet","note":"`+canary+`"}`),
	}
}

// planned collects from a server, with a plan.
func planned(t *testing.T, s *server, plan func(context.Context, *rest.Config) (any, error)) (file string) {
	t.Helper()
	file, _ = collectedWith(t, s, plan)
	return file
}

// collected collects from a server.
func collected(t *testing.T, s *server) (file string, told string) {
	t.Helper()
	return collectedWith(t, s, nil)
}

// collectedWith collects by a proxy whose URL has a password.
func collectedWith(t *testing.T, s *server, plan func(context.Context, *rest.Config) (any, error)) (file string, told string) {
	t.Helper()
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	proxy, err := url.Parse(listening.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy.User = url.UserPassword("somebody", canary)
	config := &rest.Config{Host: "http://api.example", BearerToken: canary, UserAgent: "capstan-cli", Proxy: http.ProxyURL(proxy)}
	var lines strings.Builder
	made, err := Collect(t.Context(), config, Options{
		OperatorNamespace: "ops", CAPINamespace: "capi", Machines: []string{"clusterapi"}, Capstan: "v1", At: noon, Plan: plan,
		Tell: func(name string, done archive.State, why string) { fmt.Fprintf(&lines, "%s %s %s\n", done, name, why) },
	})
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "made.tar.gz")
	if err := made.Create(file); err != nil {
		t.Fatal(err)
	}
	return file, lines.String()
}

func TestCollect_takes_nothing_that_is_not_on_its_list(t *testing.T) {
	s := &server{answers: answers()}
	file, told := collected(t, s)
	read, err := archive.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{"the file": packed, "what is told": []byte(told)}
	for _, e := range read.Index.Parts {
		_, texts[e.Name], _ = read.Of(e.Name)
		texts["why not "+e.Name] = []byte(e.Why + e.Right)
	}
	for name, text := range texts {
		for shift := range 3 {
			encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("-", shift) + canary))
			if bytes.Contains(text, []byte(encoded[4:len(encoded)-4])) {
				t.Errorf("a canary is in %s in base64", name)
			}
		}
		if at := bytes.Index(text, []byte(canary)); at >= 0 {
			t.Errorf("a canary is in %s: %s", name, text[max(0, at-80):at])
		}
		if name != "the file" && bytes.ContainsRune(text, '\x1b') {
			t.Errorf("%s would control a terminal", name)
		}
	}
	for name, want := range map[string]string{
		versionsPart: "v1.33.0", clusterPart: "4.22.0", clusterAPIPart: `"currentRevision": "r"`, operatorPart: `"state": "Installed"`, requirementsPart: `"req"`,
		historyPart: `"entries"`, inventoriesPart: "it is damaged", eventsPart: "Installed", podsPart: "ImagePullBackOff", definitionsPart: `"storedVersions"`,
		managersPart: "no inventory", logsFolder + "0.log": "all is well", logsFolder + "0-before.log": "all is well",
	} {
		if !strings.Contains(string(texts[name]), want) {
			t.Errorf("%s lacks %s:\n%s", name, want, texts[name])
		}
	}
	for _, asked := range s.asked {
		if !strings.HasPrefix(asked, "GET ") || strings.Contains(asked, "secrets") {
			t.Errorf("it has asked %s", asked)
		}
	}
}

func TestCollect_tells_which_right_was_missing(t *testing.T) {
	s := &server{answers: answers(), refused: []string{installer, ops + "pods", "/api/v1/namespaces/capi/pods", "/apis/events.k8s.io/v1/namespaces/default/events"}}
	file, told := collected(t, s)
	read, err := archive.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		clusterAPIPart: "missing, get clusterapis.operator.openshift.io cluster", actsPart: "missing, get clusterapis.operator.openshift.io cluster",
		podsPart: "missing, list pods in namespace ops", logsFolder + "all": "missing, list pods in namespace ops", eventsPart: "missing, list events.events.k8s.io in namespace default",
		recorderPart: "missing, ", operatorPart: "whole, ",
	} {
		if e, _, _ := read.Of(name); string(e.State)+", "+e.Right != want {
			t.Errorf("%s: %s, %s (%s)", name, e.State, e.Right, e.Why)
		}
	}
	if !strings.Contains(told, "missing pods.json not allowed to list pods in namespace ops") {
		t.Errorf("it is told that\n%s", told)
	}
}

func TestCollect_is_an_error_without_a_cluster(t *testing.T) {
	config := &rest.Config{Host: "http://127.0.0.1:1"}
	if made, err := Collect(t.Context(), config, Options{Machines: []string{"clusterapi"}, Tell: func(string, archive.State, string) {}}); err == nil || made != nil {
		t.Errorf("it made %v", made)
	}
}

func TestOnlyGets_sends_nothing_that_writes_or_asks_for_secrets(t *testing.T) {
	sent := 0
	next := onlyGets{roundTripper(func(*http.Request) (*http.Response, error) { sent++; return &http.Response{Body: http.NoBody}, nil })}
	for _, c := range []struct {
		method, path string
		passes       bool
	}{
		{"GET", "/api/v1/namespaces/a/pods", true},
		{"GET", "/api/v1/namespaces/a/pods/b/log?tailLines=1", true},
		{"GET", "/api/v1/namespaces/a/secrets", false},
		{"GET", "/api/v1/secrets/x", false},
		{"GET", "/api/v1/namespaces/a/pods?watch=1", false},
		{"GET", "/api/v1/namespaces/a/pods/b/exec", false},
		{"POST", "/api/v1/namespaces/a/pods", false},
		{"DELETE", "/api/v1/namespaces/a/pods", false},
	} {
		before := sent
		request := httptest.NewRequest(c.method, c.path, nil)
		answer, err := next.RoundTrip(request)
		if (err == nil) != c.passes || (sent > before) != c.passes {
			t.Errorf("%s %s: %v (%v)", c.method, c.path, answer, err)
		}
		if err == nil {
			_ = answer.Body.Close()
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func TestManagers_tells_fields_without_the_keys_and_values_of_elements_and_asks_for_no_data(t *testing.T) {
	s := &server{answers: map[string]string{ops + "configmaps/a": `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","namespace":"ops",
		"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"` + canary + `"},"managedFields":[{"manager":"rival","operation":"Update","apiVersion":"v1",
		"fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:a":{}},"f:spec":{"f:list":{"k:{\"name\":\"` + canary + `\"}":{".":{},"f:env":{}},"v:\"` + canary + `\"":{}}}}}]}}`}}
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	cluster, err := newCluster(&rest.Config{Host: listening.URL})
	if err != nil {
		t.Fatal(err)
	}
	c := &collector{Options: Options{Tell: func(string, archive.State, string) {}}, cluster: cluster, into: archive.NewBuilder(noon, "v1")}
	for _, key := range []engine.Key{
		{Version: "v1", Kind: "ConfigMap", Namespace: "ops", Name: "a"},
		{Version: "v1", Kind: "ConfigMap", Namespace: "ops", Name: "gone"},
		{Version: "v1", Kind: "Secret", Namespace: "ops", Name: "b"},
		{Group: "test.cluster.x-k8s.io", Version: "v1", Kind: "Machine", Namespace: "ops", Name: "c"},
		{Group: "example.com", Version: "v1", Kind: "Thing", Namespace: "ops", Name: "d"},
	} {
		c.found.objects = append(c.found.objects, key)
		c.found.contested = append(c.found.contested, guards.Contested{Object: key.String()})
	}
	c.found.define("things.example.com")
	if err := c.managers(t.Context(), managersPart); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := c.into.Write(&out); err != nil {
		t.Fatal(err)
	}
	read, err := archive.Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	_, content, _ := read.Of(managersPart)
	if strings.Contains(string(content), canary) {
		t.Errorf("it tells a key or a value: %s", content)
	}
	var held []heldManagers
	if err := json.Unmarshal(content, &held); err != nil || len(held) != 5 || len(held[0].Managers) != 1 {
		t.Fatalf("it tells %s (%v)", content, err)
	}
	if got := strings.Join(held[0].Managers[0].Fields, " "); got != ".data.a .spec.list[] .spec.list[].env" {
		t.Errorf("the fields are %s", got)
	}
	if held[1].Why != "it does not exist" {
		t.Errorf("of one that is gone it tells %q", held[1].Why)
	}
	for _, secret := range held[2:] {
		if !strings.Contains(secret.Why, "not asked for") {
			t.Errorf("of %s it tells %q", secret.Object, secret.Why)
		}
	}
	if len(s.asked) != 2 {
		t.Errorf("it has asked %q", s.asked)
	}
}

func TestLastOf_keeps_the_last_lines(t *testing.T) {
	for _, c := range []struct {
		text, want string
		most       int
		cut        bool
	}{
		{"one\ntwo\n", "one\ntwo\n", 8, false},
		{"one\ntwo\nthree\n", "three\n", 8, true},
		{strings.Repeat("a line\n", 100_000) + "last\n", "a line\nlast\n", 12, true},
		{"", "", 8, false},
	} {
		got, cut, err := lastOf(strings.NewReader(c.text), c.most)
		if err != nil || string(got) != c.want || cut != c.cut {
			t.Errorf("of %d bytes %q is kept, %t (%v)", len(c.text), got, cut, err)
		}
	}
	if _, _, err := lastOf(iotest.ErrReader(errors.New("torn")), 8); err == nil {
		t.Error("half of a log is taken for all of it")
	}
}

func TestScrubbed_takes_out_what_proves_who_somebody_is(t *testing.T) {
	for _, text := range []string{
		"https://user:" + canary + "@registry.example/v2", `proxy "http://` + canary + `@10.0.0.1:3128"`, "Authorization: Bearer " + canary, "authorization=basic " + canary,
		`{"access_token":"` + canary + `","expires_in":300}`, `{\"token\":\"` + canary + `\"}`, "password=" + canary, "it is sha256~" + canary + "-0123456789abcdef,", "x eyJhbGciOiJSUzI1NiI." + canary + "." + canary + " y",
		"-----BEGIN RSA PRIVATE KEY-----\n" + strings.ReplaceAll(canary, "-", "+") + "\n-----END",
	} {
		if got := scrubbed(text); strings.Contains(got, "4f8e1c") {
			t.Errorf("%q is left of %q", got, text)
		}
	}
	for _, text := range []string{
		"pulling quay.io/example/core@sha256:4e1f0a", "asked with those of Secret openshift-config/pull-secret", "revision 1 is installed: all 56 objects", "see https://example.com/a?b=c and mail a@b.c",
	} {
		if got := scrubbed(text); got != text {
			t.Errorf("of %q %q is left", text, got)
		}
	}
}
