package proxy

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Request is what a request to an API server asks for. Of requests that name no
// resource, such as discovery, only the verb is known.
type Request struct {
	// Verb is get, list, watch, create, update, patch, delete or deletecollection.
	Verb, Group, Resource, Subresource, Namespace, Name string
	// DryRun says that nothing is to be stored.
	DryRun bool
	// Initial says of a watch that it stands for a list: all that there is comes first.
	Initial bool
}

// requestOf reads the method and the address; the name of an object that is
// created is in the body, and not read.
func requestOf(r *http.Request) Request {
	query := r.URL.Query()
	request := parsePath(r.URL.Path)
	request.DryRun = slices.Contains(query["dryRun"], "All")
	request.Verb = VerbOf(r.Method, query, request.Name)
	request.Initial = request.Verb == "watch" && query.Get("sendInitialEvents") == "true"
	return request
}

// parsePath takes /api/v1/... and /apis/<group>/<version>/... apart.
func parsePath(path string) Request {
	var request Request
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		request.Group, parts = parts[1], parts[3:]
	default:
		return request
	}
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		request.Namespace, parts = parts[1], parts[2:]
	}
	for i, field := range []*string{&request.Resource, &request.Name, &request.Subresource} {
		if i < len(parts) {
			*field = parts[i]
		}
	}
	return request
}

// VerbOf is the verb of a request as authorization has it; name is empty for all objects of a kind.
func VerbOf(method string, query url.Values, name string) string {
	switch method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if name == "" {
			return "deletecollection"
		}
		return "delete"
	}
	switch {
	case query.Get("watch") == "true" || query.Get("watch") == "1":
		return "watch"
	case name == "":
		return "list"
	}
	return "get"
}

// reads are the verbs that change nothing.
var reads = []string{"get", "list", "watch"}

// IsWrite says whether the request asks for a change of what is installed or
// reported. Leases and Events are not counted: they come when they like. Reviews
// of who may do what are created, and nothing is stored.
func (r Request) IsWrite() bool {
	return r.Resource != "" && !r.DryRun && !slices.Contains(reads, r.Verb) && r.Resource != "leases" && r.Resource != "events" &&
		r.Group != "authorization.k8s.io"
}
