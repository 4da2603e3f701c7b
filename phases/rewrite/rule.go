package rewrite

import (
	"bytes"
	"strings"
)

// rule says what becomes of a string.
type rule uint8

const (
	noRule rule = iota
	// groupRule is for a whole group or group/version.
	groupRule
	// rootRule is the same for the apiVersion of what a request is about.
	rootRule
	// nameRule is for the name of a CRD.
	nameRule
	// messageRule is for text for people.
	messageRule
	// definitionRule is for the name of an OpenAPI definition, refRule for a
	// reference to one.
	definitionRule
	refRule
	// pathRule is for a path in an OpenAPI document or index, urlRule for the URL
	// of a document.
	pathRule
	urlRule
)

// edit puts text where bytes from:to of what a string says were. An edit without
// text is none.
type edit struct {
	from, to int
	with     string
}

// edits are at most two, in their order.
func (r rule) edits(d Direction, text []byte) (edits [2]edit, match Match) {
	switch r {
	case groupRule, rootRule:
		edits[0], match = groupEdit(d, text, 0, groupEnd(text))
	case nameRule:
		edits[0], match = groupEdit(d, text, groupStart(text), len(text))
	case definitionRule:
		edits[0], match = definitionEdit(d, text, 0)
	case refRule:
		edits[0], match = definitionEdit(d, text, bytes.LastIndexByte(text, '/')+1)
	case pathRule, urlRule:
		start, end := groupInPath(text)
		edits[0], match = groupEdit(d, text, start, end)
		if r == urlRule {
			edits[1] = hashEdit(d, text)
		}
	}
	return edits, match
}

// groupEdit is the edit of the group text[from:to].
func groupEdit(d Direction, text []byte, from, to int) (edit, Match) {
	start, row, match := find(d, text[from:to])
	if match != Mapped {
		return edit{}, match
	}
	return edit{from: from + start, to: to, with: d.to(row)}, Mapped
}

// definitionEdit is the edit of a definition's name: the group backwards, the
// version, the kind.
func definitionEdit(d Direction, text []byte, from int) (edit, Match) {
	group := definitionGroup(text[from:])
	if group == "" {
		return edit{}, NoMatch
	}
	_, row, match := find(d, group)
	if match != Mapped {
		return edit{}, match
	}
	return edit{from: from, to: from + len(d.from(row)), with: backwards(d.to(row))}, Mapped
}

// definitionGroup is the group of a definition's name, or "".
func definitionGroup(name []byte) string {
	for range 2 {
		end := bytes.LastIndexByte(name, '.')
		if end < 0 {
			return ""
		}
		name = name[:end]
	}
	return backwards(string(name))
}

// backwards turns the order of a name's labels.
func backwards(name string) string {
	labels := strings.Split(name, ".")
	for i, j := 0, len(labels)-1; i < j; i, j = i+1, j-1 {
		labels[i], labels[j] = labels[j], labels[i]
	}
	return strings.Join(labels, ".")
}

// groupInPath is where the group is in [/openapi/v3][/]apis/<group>[/...].
func groupInPath(path []byte) (start, end int) {
	rest := bytes.TrimPrefix(path, []byte("/openapi/v3"))
	rest = bytes.TrimPrefix(rest, []byte("/"))
	rest, found := bytes.CutPrefix(rest, []byte("apis/"))
	if !found {
		return 0, 0
	}
	start = len(path) - len(rest)
	end = bytes.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	return start, start + end
}

// hashEdit adds the rules to the hash of a URL, for the client.
func hashEdit(d Direction, url []byte) edit {
	query := bytes.IndexByte(url, '?')
	if d == ToServer || query < 0 {
		return edit{}
	}
	at := bytes.Index(url[query:], []byte("hash="))
	if at < 0 {
		return edit{}
	}
	end := query + at
	for end < len(url) && url[end] != '&' {
		end++
	}
	return edit{from: end, to: end, with: stamp("")}
}
