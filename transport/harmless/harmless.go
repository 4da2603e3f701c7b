// Package harmless is the transport of commands that only look: it passes requests that change nothing in a cluster, and refuses
// all others before they are sent. What passes is on a list; whatever is not known to be harmless is refused.
package harmless

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// RefusedError says that a request was not sent, because it could change something.
type RefusedError struct{ Method, Path, Why string }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s %s was not sent, because this command changes nothing: %s", e.Method, e.Path, e.Why)
}

// Transport passes what is harmless to another one.
type Transport struct {
	next    http.RoundTripper
	prefix  string
	watches bool
}

// New passes harmless requests to an API server that is found below a path, which is empty for most, on to next.
func New(prefix string, next http.RoundTripper) *Transport {
	return &Transport{next: next, prefix: strings.TrimSuffix(prefix, "/")}
}

// NewWatching is New for a command that goes on looking: watches pass, too.
func NewWatching(prefix string, next http.RoundTripper) *Transport {
	t := New(prefix, next)
	t.watches = true
	return t
}

// RoundTrip sends a harmless request.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	why, sent := t.judge(r)
	if why != "" {
		if r.Body != nil {
			_ = r.Body.Close() // a transport closes it, whatever comes of the request
		}
		return nil, &RefusedError{Method: r.Method, Path: r.URL.Path, Why: why}
	}
	return t.next.RoundTrip(sent)
}

// judge says why a request is refused, empty if it is not, and gives back the one to send: a body that was read to judge it
// is sent as it was read.
func (t *Transport) judge(r *http.Request) (why string, sent *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		return "it asks for another protocol", nil
	}
	if hasMethodOverride(r) {
		return "it asks to be taken for another method", nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return "its query cannot be read", nil
	}
	what, known := t.targetOf(r.URL)
	switch {
	case !known:
		return "it is not about objects as such, or their kinds", nil
	case r.Method == http.MethodGet:
		return t.whyNoGet(query), r
	case what.isReview() && r.Method == http.MethodPost:
		return "", r
	case what.resource == "":
		return "it is not about objects", nil
	case r.Method == http.MethodDelete:
		return judgeDeletion(what, query, r)
	case !isDryRun(query["dryRun"]):
		return "it is no dry run", nil
	case r.Method == http.MethodPost && what.name == "", r.Method == http.MethodPatch && what.name != "", r.Method == http.MethodPut && what.name != "":
		return "", r
	}
	return "nobody here asks so", nil
}

// isDryRun says that all stages of a request are to be run dry, and that it is said once.
func isDryRun(said []string) bool { return slices.Equal(said, []string{"All"}) }

func hasMethodOverride(r *http.Request) bool {
	for name := range r.Header {
		if strings.Contains(strings.ToLower(name), "method-override") {
			return true
		}
	}
	return false
}

// whyNoGet refuses watches, unless they are let through: a look ends.
func (t *Transport) whyNoGet(query url.Values) string {
	if t.watches {
		return ""
	}
	for _, value := range query["watch"] {
		if value != "false" && value != "0" {
			return "it is a watch"
		}
	}
	return ""
}

// maxDeletion bounds the options of a deletion.
const maxDeletion = 64 << 10

// judgeDeletion reads the options in the body: if there is one, an API server does not look at the query.
func judgeDeletion(what target, query url.Values, r *http.Request) (why string, sent *http.Request) {
	switch bare := r.Body == nil || r.Body == http.NoBody; {
	case what.name == "":
		return "it is about more than one object", nil
	case bare && !isDryRun(query["dryRun"]):
		return "it is no dry run", nil
	case bare:
		return "", r
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, maxDeletion+1))
	_ = r.Body.Close()
	if err != nil || len(text) > maxDeletion {
		return "its options cannot be read", nil
	}
	var options struct {
		DryRun []string `json:"dryRun"`
	}
	if err := json.Unmarshal(text, &options); err != nil || !isDryRun(options.DryRun) || strings.Count(string(text), `"dryRun"`) != 1 {
		return "its options do not say that it is a dry run", nil
	}
	sent = r.Clone(r.Context())
	sent.Body = io.NopCloser(bytes.NewReader(text))
	sent.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	sent.ContentLength = int64(len(text))
	return "", sent
}

// target is what a request is about: objects, or with an empty resource what kinds there are and how the server is.
type target struct{ group, version, resource, namespace, name string }

// about are paths that are about no object.
var about = []string{"/api", "/apis", "/readyz", "/version"}

// targetOf reads a path, and does not know those of subresources: they connect to pods, and evict, and make tokens.
func (t *Transport) targetOf(u *url.URL) (what target, known bool) {
	path, below := strings.CutPrefix(u.Path, t.prefix)
	if !below || u.RawPath != "" && u.RawPath != u.Path || path == "" || path[0] != '/' || u.Opaque != "" {
		return target{}, false
	}
	if slices.Contains(about, strings.TrimSuffix(path, "/")) {
		return target{}, true
	}
	parts := strings.Split(path[1:], "/")
	if slices.ContainsFunc(parts, func(part string) bool { return part == "" || part == "." || part == ".." }) {
		return target{}, false
	}
	switch {
	case parts[0] == "api":
		what.version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) == 2:
		return target{group: parts[1]}, true
	case parts[0] == "apis" && len(parts) > 2:
		what.group, what.version, parts = parts[1], parts[2], parts[3:]
	default:
		return target{}, false
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		what.namespace, parts = parts[1], parts[2:]
	}
	switch len(parts) {
	case 0:
		return what, what.namespace == ""
	case 1:
		what.resource = parts[0]
	case 2:
		what.resource, what.name = parts[0], parts[1]
	}
	return what, len(parts) <= 2 && what.resource != "watch" && what.resource != "proxy"
}

// reviews are the kinds whose creation asks a question and stores nothing, by their groups.
var reviews = map[string][]string{
	"authentication.k8s.io": {"selfsubjectreviews"},
	"authorization.k8s.io":  {"selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews", "localsubjectaccessreviews"},
}

func (w target) isReview() bool { return w.name == "" && slices.Contains(reviews[w.group], w.resource) }
