package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// maxName is the API's limit for the name of a revision.
const maxName = 255

// Name is `<release>-<first 8 of contentID>-<number>`, at most 255 bytes: a
// release that is too long is cut, the suffix that tells revisions apart never.
func Name(release, contentID string, number int64) string {
	suffix := "-" + contentID[:min(8, len(contentID))] + "-" + strconv.FormatInt(number, 10)
	end := min(len(release), maxName-len(suffix))
	for end > 0 && end < len(release) && !utf8.RuneStart(release[end]) {
		end--
	}
	return release[:end] + suffix
}

// profileID is the SHA-256, in hex, over the objects in order, each as one line
// of canonical JSON.
func profileID(objects []*unstructured.Unstructured) string {
	hash := sha256.New()
	var line []byte
	for _, object := range objects {
		line = append(appendJSON(line[:0], object.Object), '\n')
		hash.Write(line)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// revisionID is the SHA-256, in hex, over lines: `component <content ID>` in
// order, `substitution "<key>" "<value>"` sorted by key, `unmanaged "<name>"`
// sorted. The leading words and the JSON quotes keep one list from running into
// the next.
func revisionID(rev *Revision) string {
	var text []byte
	for _, c := range rev.Components {
		text = append(append(append(text, "component "...), c.ContentID...), '\n')
	}
	for _, s := range rev.Substitutions {
		text = appendJSONString(append(text, "substitution "...), s.Key)
		text = append(appendJSONString(append(text, ' '), s.Value), '\n')
	}
	for _, name := range rev.Unmanaged {
		text = append(appendJSONString(append(text, "unmanaged "...), name), '\n')
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// appendJSON writes a value of an unstructured object as canonical JSON: keys
// sorted by their bytes, no white space, integers in decimal, other numbers as
// encoding/json writes them, and strings as appendJSONString does. It stands in
// for encoding/json because content IDs must never change with a Go release.
func appendJSON(to []byte, value any) []byte {
	switch v := value.(type) {
	case map[string]any:
		to = append(to, '{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				to = append(to, ',')
			}
			to = append(appendJSONString(to, key), ':')
			to = appendJSON(to, v[key])
		}
		return append(to, '}')
	case []any:
		to = append(to, '[')
		for i, item := range v {
			if i > 0 {
				to = append(to, ',')
			}
			to = appendJSON(to, item)
		}
		return append(to, ']')
	case string:
		return appendJSONString(to, v)
	case int64:
		return strconv.AppendInt(to, v, 10)
	case bool:
		return strconv.AppendBool(to, v)
	case float64:
		text, err := json.Marshal(v)
		if err != nil {
			panic("render: a number without JSON form passed the decoder: " + err.Error())
		}
		return append(to, text...)
	}
	return append(to, "null"...)
}

// appendJSONString quotes a string, escaping only what JSON demands: the quote,
// the backslash and control characters (those below U+0020, as \u00xx in lower
// case). There is no escaping of <, > and &, nor of any other character.
func appendJSONString(to []byte, s string) []byte {
	const digits = "0123456789abcdef"
	to = append(to, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		to = append(to, s[start:i]...)
		if c < ' ' {
			to = append(to, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		} else {
			to = append(to, '\\', c)
		}
		start = i + 1
	}
	return append(append(to, s[start:]...), '"')
}
