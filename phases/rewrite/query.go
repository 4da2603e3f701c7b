package rewrite

import (
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
)

// The fields that a selector can name, and whose values have a group.
var selectable = map[Class]map[string]func(Direction, string) (string, Match){
	Definitions: {"metadata.name": Direction.CRDName},
	Events:      {"involvedObject.apiVersion": Direction.GroupVersion},
	EventsV1:    {"regarding.apiVersion": Direction.GroupVersion, "involvedObject.apiVersion": Direction.GroupVersion},
}

// query rewrites what a query says of groups: field selectors, and the hash of
// an OpenAPI document. All else, and what the server would not understand
// either, stays as it is.
func (r *Request) query(d Direction, raw string) string {
	if selectable[r.Class] == nil && r.Class != OpenAPI {
		return raw
	}
	pairs := strings.Split(raw, "&")
	for i, pair := range pairs {
		// The server passes over a pair with a semicolon, which it would not if that were escaped.
		if strings.Contains(pair, ";") {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(key)
		if err != nil {
			continue
		}
		text, err := url.QueryUnescape(value)
		if err != nil {
			continue
		}
		rewritten := text
		switch {
		case name == "fieldSelector":
			rewritten = selector(d, r.Class, text)
		case name == "hash" && r.Class == OpenAPI:
			rewritten = unstamp(text)
		}
		if rewritten != text {
			pairs[i] = key + "=" + url.QueryEscape(rewritten)
		}
	}
	return strings.Join(pairs, "&")
}

func selector(d Direction, class Class, text string) string {
	changed := false
	parsed, err := fields.ParseAndTransformSelector(text, func(field, value string) (string, string, error) {
		mapping := selectable[class][field]
		if mapping == nil {
			return field, value, nil
		}
		mapped, match := mapping(d, value)
		changed = changed || match == Mapped
		return field, mapped, nil
	})
	if err != nil || !changed {
		return text
	}
	return parsed.String()
}

// Location rewrites the Location of a server's answer for the client. One that
// cannot be understood comes back as it is.
func (r *Request) Location(location string) string {
	u, err := url.Parse(location)
	if err != nil || !strings.HasPrefix(u.Path, "/") || r.Class == Opaque {
		return location
	}
	segments := strings.Split(u.EscapedPath(), "/")
	if place := groupPlace(segments); place > 0 {
		segments[place], _ = ToClient.Group(segments[place])
	}
	if r.Class == Definitions {
		last := len(segments) - 1
		segments[last], _ = ToClient.CRDName(segments[last])
	}
	u.RawPath = strings.Join(segments, "/")
	if u.Path, err = url.PathUnescape(u.RawPath); err != nil {
		return location
	}
	if query := u.Query(); r.Class == OpenAPI && query.Has("hash") {
		query.Set("hash", stamp(query.Get("hash")))
		u.RawQuery = query.Encode()
	}
	return u.String()
}
