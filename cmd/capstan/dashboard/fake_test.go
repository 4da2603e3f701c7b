package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	apiPath          = "/apis/operator.openshift.io/v1alpha1/clusterapis"
	operatorPath     = "/apis/config.openshift.io/v1/clusteroperators"
	requirementsPath = "/apis/apiextensions.openshift.io/v1alpha1/compatibilityrequirements"
	configMapsPath   = "/api/v1/namespaces/ops/configmaps"
)

// fakeCluster answers as an API server does about a few kinds. It remembers what it was asked.
type fakeCluster struct {
	*httptest.Server

	mu      sync.Mutex
	objects map[string]map[string]map[string]any // by the path of the kind, and by name
	version int
	changed chan struct{}
	events  []event
	asked   []string
	// unwatched forbids watches, hangs answers nothing, and refuses answers with a status, below the paths that they name; token is
	// the one that is accepted, empty for none.
	unwatched, hangs string
	refuses          map[string]int
	token            string
}

type event struct {
	version          int
	path, name, kind string
	object           map[string]any
}

func newFakeCluster(t *testing.T) *fakeCluster {
	t.Helper()
	f := &fakeCluster{objects: map[string]map[string]map[string]any{}, changed: make(chan struct{}), version: 10, refuses: map[string]int{}}
	ctx, cancel := context.WithCancel(context.Background())
	f.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.asked = append(f.asked, r.Method+" "+r.URL.String())
		f.mu.Unlock()
		f.answer(ctx, w, r)
	}))
	f.Config.ErrorLog = log.New(io.Discard, "", 0) // clients go while they shake hands
	f.StartTLS()                                   // a kubeconfig gives no credentials without TLS
	t.Cleanup(func() {
		cancel()
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

// set stores an object, or without one removes it.
func (f *fakeCluster) set(path, name string, object map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version++
	kind := "MODIFIED"
	if f.objects[path] == nil {
		f.objects[path] = map[string]map[string]any{}
	}
	switch before := f.objects[path][name]; {
	case object == nil:
		kind, object = "DELETED", before
		delete(f.objects[path], name)
	case before == nil:
		kind = "ADDED"
	}
	if kind != "DELETED" {
		metadata, _ := object["metadata"].(map[string]any)
		if metadata == nil {
			metadata = map[string]any{}
		}
		metadata["name"], metadata["uid"], metadata["resourceVersion"] = name, "uid-"+name, strconv.Itoa(f.version)
		object["metadata"] = metadata
		f.objects[path][name] = object
	}
	f.events = append(f.events, event{f.version, path, name, kind, object})
	close(f.changed)
	f.changed = make(chan struct{})
}

// with changes how it answers.
func (f *fakeCluster) with(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// requests are what was asked so far.
func (f *fakeCluster) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

// awaitWatches waits until the kinds of these paths are watched, after which nothing more is asked of them.
func (f *fakeCluster) awaitWatches(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		eventually(t, "the watch of "+path, func() bool {
			return slices.ContainsFunc(f.requests(), func(r string) bool { return strings.HasPrefix(r, "GET "+path) && strings.Contains(r, "watch=true") })
		})
	}
}

func refusal(w http.ResponseWriter, code int, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"it is so","reason":%q,"code":%d,"details":{"name":"x"}}`, reason, code)
}

func (f *fakeCluster) answer(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	token, hangs, unwatched, refused := f.token, f.hangs, f.unwatched, f.refuses[r.URL.Path]
	f.mu.Unlock()
	watches := r.URL.Query().Get("watch") == "true"
	switch {
	case hangs != "" && strings.HasPrefix(r.URL.Path, hangs):
		select {
		case <-r.Context().Done():
		case <-ctx.Done():
		}
	case token != "" && r.Header.Get("Authorization") != "Bearer "+token:
		refusal(w, http.StatusUnauthorized, "Unauthorized")
	case refused != 0:
		refusal(w, refused, http.StatusText(refused))
	case watches && unwatched != "" && strings.HasPrefix(r.URL.Path, unwatched):
		refusal(w, http.StatusForbidden, "Forbidden")
	case watches:
		f.watch(ctx, w, r)
	default:
		f.read(w, r)
	}
}

// read answers a get or a list.
func (f *fakeCluster) read(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if all, is := f.objects[r.URL.Path]; is {
		f.list(w, r, all)
		return
	}
	path, name := r.URL.Path[:strings.LastIndex(r.URL.Path, "/")], filepath.Base(r.URL.Path)
	if object := f.objects[path][name]; object != nil {
		_ = json.NewEncoder(w).Encode(object)
		return
	}
	refusal(w, http.StatusNotFound, "NotFound")
}

func (f *fakeCluster) list(w http.ResponseWriter, r *http.Request, all map[string]map[string]any) {
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	metadata, end := map[string]any{"resourceVersion": strconv.Itoa(f.version)}, len(names)
	if limit > 0 && from+limit < end {
		end = from + limit
		metadata["continue"] = strconv.Itoa(end)
	}
	items := []any{}
	for _, name := range names[from:end] {
		items = append(items, all[name])
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items})
}

// watch tells of what changes after a version.
func (f *fakeCluster) watch(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	name := strings.TrimPrefix(r.URL.Query().Get("fieldSelector"), "metadata.name=")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	for {
		f.mu.Lock()
		changed := f.changed
		for _, e := range f.events {
			if e.version > from && e.path == r.URL.Path && (name == "" || e.name == name) {
				from = e.version
				_ = json.NewEncoder(w).Encode(map[string]any{"type": e.kind, "object": e.object})
			}
		}
		f.mu.Unlock()
		_ = http.NewResponseController(w).Flush()
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// operator is a ClusterOperator with what the operator tells in it.
func operator(extension map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator",
		"status": map[string]any{
			"extension": extension, "versions": []any{map[string]any{"name": "operator", "version": "4.22.5"}},
			"conditions": []any{map[string]any{"type": "Available", "status": "True", "reason": "AsExpected", "lastTransitionTime": "2026-01-31T12:00:00Z"}},
		},
	}
}

// stands is a record of a machine in a state.
func stands(state, reason string) map[string]any {
	return map[string]any{"state": state, "since": "2026-01-31T12:00:00Z", "reason": reason, "progress": map[string]any{"done": 0, "since": "2026-01-31T12:00:00Z"}, "entry": map[string]any{"done": 0}}
}

// installed is a cluster that is as it should be.
func installed(t *testing.T) *fakeCluster {
	t.Helper()
	f := newFakeCluster(t)
	f.set(apiPath, "cluster", map[string]any{"apiVersion": "operator.openshift.io/v1alpha1", "kind": "ClusterAPI"})
	f.set(operatorPath, "cluster-api", operator(map[string]any{"clusterapi": stands("Installed", "all is well")}))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects[requirementsPath], f.objects[configMapsPath] = map[string]map[string]any{}, map[string]map[string]any{}
	return f
}

// soon is fast enough for tests.
var soon = times{
	request: 10 * time.Second, round: time.Minute, poll: 10 * time.Millisecond, slowest: 50 * time.Millisecond, unwatched: time.Minute,
	family: 20 * time.Millisecond, records: 10 * time.Millisecond, coalesce: 5 * time.Millisecond, alive: time.Second, linger: 50 * time.Millisecond,
}

// impatient has clusters give up soon what is not answered.
func (p *page) impatient() *page {
	for _, c := range p.clusters {
		c.times.request = impatience
	}
	return p
}

const impatience = 500 * time.Millisecond

// atBest is how long something takes at best.
func atBest(do func()) time.Duration {
	best := time.Hour
	for range 5 {
		begun := time.Now()
		do()
		best = min(best, time.Since(begun))
	}
	return best
}

// kubeconfigOf has a context for each server, with a user of the same name.
func kubeconfigOf(t *testing.T, users string, servers map[string]string) string {
	t.Helper()
	var clusters, contexts []string
	for name, server := range servers {
		clusters = append(clusters, fmt.Sprintf("{name: %s, cluster: {server: %q, insecure-skip-tls-verify: true}}", name, server))
		contexts = append(contexts, fmt.Sprintf("{name: %s, context: {cluster: %s, user: %s}}", name, name, name))
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	rewrite(t, path, fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [%s]\ncontexts: [%s]\nusers: [%s]\n", strings.Join(clusters, ", "), strings.Join(contexts, ", "), users))
	return path
}

func rewrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
