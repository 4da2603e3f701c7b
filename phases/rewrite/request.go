package rewrite

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// Request is a client's request, understood.
type Request struct {
	Class Class
	// Info is what the API server makes of the request, in the client's words.
	Info *request.RequestInfo
	// URL is what is to be sent: its Path, RawPath and RawQuery.
	URL *url.URL
	// OtherPrefix says that the group has one of the bases with a prefix that is
	// not in the table: it passed as it is.
	OtherPrefix bool
}

var requestInfos = &request.RequestInfoFactory{
	APIPrefixes:          sets.NewString("api", "apis"),
	GrouplessAPIPrefixes: sets.NewString("api"),
}

// ParseRequest understands a client's request by its method and URL. Its error is
// an *Error: 400 for a path that means one thing as it stands and another one
// decoded or cleaned, 404 for a group that is not the client's to address.
func ParseRequest(method string, u *url.URL) (*Request, error) {
	info, opaque, err := understand(method, u)
	if err != nil {
		return nil, err
	}
	sent := *u
	parsed := &Request{Class: classOf(info), Info: info, URL: &sent}
	segments := strings.Split(u.EscapedPath(), "/")
	if place := groupPlace(segments); place > 0 {
		if wrong := wrongGroup(segments[place], http.StatusNotFound); wrong != nil {
			return nil, wrong
		}
		mapped, match := ToServer.Group(segments[place])
		segments[place], parsed.OtherPrefix = mapped, match == OtherPrefix
	}
	if parsed.Class == Definitions && len(info.Parts) > 1 {
		name := len(segments) - opaque - trailing(segments) - len(info.Parts) + 1
		mapped, _ := ToServer.CRDName(info.Parts[1])
		segments[name] = url.PathEscape(mapped)
	}
	sent.RawPath = strings.Join(segments, "/")
	sent.Path, err = url.PathUnescape(sent.RawPath)
	if err != nil {
		return nil, ambiguous("the path %q has an escape that is none", sent.RawPath)
	}
	sent.RawQuery = parsed.query(ToServer, u.RawQuery)
	return parsed, nil
}

// groupPlace is the index of the segment that is a group, or 0.
func groupPlace(segments []string) int {
	switch {
	case len(segments) > 2 && segments[1] == "apis":
		return 2
	case len(segments) > 4 && segments[1] == "openapi" && segments[2] == "v3" && segments[3] == "apis":
		return 4
	}
	return 0
}

// trailing is 1 if the path ends in a slash.
func trailing(segments []string) int {
	if segments[len(segments)-1] == "" {
		return 1
	}
	return 0
}

// understand parses the path as it stands and as it is decoded, and refuses it
// if that makes a difference. opaque is how many of its last segments are behind
// a proxy subresource.
func understand(method string, u *url.URL) (info *request.RequestInfo, opaque int, err error) {
	raw := u.EscapedPath()
	info, err = requestInfos.NewRequestInfo(&http.Request{Method: method, URL: u})
	if err != nil {
		return nil, 0, ambiguous("the path %q is incomplete", raw)
	}
	written := info
	if raw != u.Path {
		written, err = requestInfos.NewRequestInfo(&http.Request{Method: method, URL: &url.URL{Path: raw, RawQuery: u.RawQuery}})
		if err != nil {
			return nil, 0, ambiguous("the path %q is incomplete", raw)
		}
	}
	opaque = behindProxy(written)
	if !same(written, info) || !plain(raw, opaque) {
		return nil, 0, ambiguous("the path %q means one thing as it stands and another one decoded or cleaned: write it "+
			"without empty segments, dots for segments and escapes that are not needed", raw)
	}
	return info, opaque, nil
}

// behindProxy counts the last segments of a path that are another server's.
func behindProxy(info *request.RequestInfo) int {
	switch {
	case info.Verb == "proxy":
		return max(0, len(info.Parts)-2)
	case info.Subresource == "proxy":
		return len(info.Parts) - 3
	}
	return 0
}

// same says whether two readings of a path are of one meaning. Names may be
// escaped: nothing is decided by how.
func same(written, decoded *request.RequestInfo) bool {
	if !written.IsResourceRequest {
		return !decoded.IsResourceRequest && written.Path == decoded.Path
	}
	return decoded.IsResourceRequest && written.Verb == decoded.Verb &&
		written.APIPrefix == decoded.APIPrefix && written.APIGroup == decoded.APIGroup && written.APIVersion == decoded.APIVersion &&
		written.Resource == decoded.Resource && written.Subresource == decoded.Subresource
}

// plain says whether the segments of a path, but for the opaque ones at its end,
// stay what they are when it is decoded and cleaned.
func plain(raw string, opaque int) bool {
	segments := strings.Split(raw, "/")
	if segments[0] != "" || len(segments) < 2 {
		return false
	}
	segments = segments[1 : len(segments)-opaque]
	if opaque == 0 {
		segments = segments[:len(segments)-trailing(segments)]
	}
	return !slices.ContainsFunc(segments, func(segment string) bool {
		decoded, err := url.PathUnescape(segment)
		return err != nil || decoded == "" || decoded == "." || decoded == ".." || strings.Contains(decoded, "/")
	})
}
