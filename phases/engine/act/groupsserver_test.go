package act

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// groupsServer is the way to an API server that serves Secrets, a kind of a CRD, and API groups of other servers, and
// answers as it is told: as with an empty list where nobody says otherwise.
type groupsServer struct {
	lists map[string]answer // by resource, of whatever namespace

	mu    sync.Mutex
	asked map[string]int // by resource
}

// servedKinds are the kinds by group and version. Of other servers are those of which the group begins with other, and
// crd.test/v2.
var servedKinds = map[string][]string{
	"v1": {"Secret"}, "crd.test/v1": {"Thing"}, "crd.test/v2": {"Reading"}, "other.test/v1": {"Copy", "More"}, "other2.test/v1": {"Deed"},
}

// answer is one to a request.
type answer struct {
	status int
	body   string
	after  time.Duration // how long it takes
	cut    error         // why it has no end
}

// errCut is why an answer over HTTP/2 has no end.
var errCut = errors.New("stream error: stream ID 1; INTERNAL_ERROR")

func ok(body string) answer { return answer{status: http.StatusOK, body: body} }

// of is an answer with objects.
func of(objects ...string) answer {
	return ok(fmt.Sprintf(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[%s]}`, strings.Join(objects, ",")))
}

// refused is how API servers say no.
func refused(status int, reason metav1.StatusReason) answer {
	return answer{status: status, body: fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":"refused"}`, status, reason)}
}

// RoundTrip answers a request without a network.
func (s *groupsServer) RoundTrip(r *http.Request) (*http.Response, error) {
	a := s.answer(r)
	select {
	case <-time.After(a.after):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	var body io.Reader = strings.NewReader(a.body)
	if a.cut != nil {
		body = io.MultiReader(body, broken{a.cut})
	}
	return &http.Response{StatusCode: a.status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(body), Request: r}, nil
}

// broken is the rest of an answer that does not come.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

func (s *groupsServer) answer(r *http.Request) answer {
	path := strings.Trim(r.URL.Path, "/")
	group := strings.TrimPrefix(strings.TrimPrefix(path, "apis/"), "api/")
	kinds := servedKinds[group]
	switch {
	case path == "readyz", path == "api":
		return ok(`{"kind":"APIVersions","versions":["v1"]}`)
	case path == "apis":
		return ok(`{"kind":"APIGroupList","groups":[` + strings.Join(announced(), ",") + `]}`)
	case path == "apis/apiregistration.k8s.io/v1/apiservices":
		return ok(`{"items":[` + strings.Join(registered(), ",") + `]}`)
	case kinds != nil:
		var all []string
		for _, kind := range kinds {
			all = append(all, fmt.Sprintf(`{"name":"%ss","kind":%q,"namespaced":true,"verbs":["list"]}`, strings.ToLower(kind), kind))
		}
		return ok(fmt.Sprintf(`{"kind":"APIResourceList","groupVersion":%q,"resources":[%s]}`, group, strings.Join(all, ",")))
	case r.Method != http.MethodGet: // of an inventory
		body, _ := io.ReadAll(r.Body)
		return ok(string(body))
	}
	resource := path[strings.LastIndex(path, "/")+1:]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked == nil {
		s.asked = map[string]int{}
	}
	s.asked[resource]++
	if told, is := s.lists[resource]; is {
		told.body = strings.ReplaceAll(told.body, "PAGE", strconv.Itoa(s.asked[resource]))
		return told
	}
	return of()
}

// announced are the API groups.
func announced() (groups []string) {
	versions := map[string][]string{}
	for gv := range servedKinds {
		if group, version, is := strings.Cut(gv, "/"); is {
			versions[group] = append(versions[group], fmt.Sprintf(`{"groupVersion":%q,"version":%q}`, gv, version))
		}
	}
	for _, group := range slices.Sorted(maps.Keys(versions)) {
		groups = append(groups, fmt.Sprintf(`{"name":%q,"versions":[%s],"preferredVersion":%s}`, group, strings.Join(versions[group], ","), versions[group][0]))
	}
	return groups
}

// registered are the APIServices.
func registered() (services []string) {
	for gv := range servedKinds {
		group, version, is := strings.Cut(gv, "/")
		labels, service := `{"kube-aggregator.kubernetes.io/automanaged":"true"}`, `null`
		switch {
		case !is:
			group, version, labels = "", gv, `{"kube-aggregator.kubernetes.io/automanaged":"onstart"}`
		case strings.HasPrefix(group, "other"), gv == "crd.test/v2":
			labels, service = `{}`, `{}`
		}
		services = append(services, fmt.Sprintf(`{"metadata":{"name":"%s.%s","labels":%s},"spec":{"group":%q,"version":%[1]q,"service":%[5]s}}`, version, group, labels, group, service))
	}
	return services
}

// engine is one that has seen nothing of the cluster yet.
func (s *groupsServer) engine(t *testing.T) *Engine {
	t.Helper()
	e, err := New(Config{REST: &rest.Config{Host: "http://localhost", QPS: -1, Transport: s}, Namespace: "ns", Owner: enginetest.Owner, FieldManager: "capstan", InventoryPrefix: "capstan-inventory-"})
	if err != nil {
		t.Fatal(err)
	}
	e.inventories = &see.Watch{Cluster: e.cluster, Synced: true}
	return e
}

// contents are what is found out about a namespace.
func (s *groupsServer) contents(t *testing.T) (string, error) {
	t.Helper()
	contents, err := s.engine(t).namespaceContents(t.Context(), "old", nil)
	return contents.What, err
}
