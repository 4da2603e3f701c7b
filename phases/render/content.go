package render

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// maxName is the API's limit for the name of a revision.
const maxName = 255

// Name is `<release>-<first 8 of contentID>-<number>`, at most 255 bytes: a
// release that is too long is cut, but never the suffix, which distinguishes
// revisions.
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
// sorted, `requirement <content ID>` of the object in the order of those names. The
// leading words and the JSON quotes keep one list from running into the next.
func revisionID(rev *Revision, derived []requirement) string {
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
	for _, d := range derived {
		text = append(append(append(text, "requirement "...), profileID([]*unstructured.Unstructured{d.object})...), '\n')
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// appendJSON writes a value of an unstructured object as canonical JSON: that of
// RFC 8785, but for keys, which are sorted by their bytes, and integers, which
// keep all 64 bits. So there is no white space, and <, > and & stay as they are.
// It is written out here because content IDs must never change with a library.
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
		return appendFloat(to, v)
	}
	return append(to, "null"...)
}

// appendFloat writes a number the shortest way that reads back the same, in the
// form of ECMAScript: with an exponent from 1e21 and below 1e-6.
func appendFloat(to []byte, f float64) []byte {
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		text := strconv.FormatFloat(f, 'e', -1, 64)
		return append(to, strings.Replace(text, "e-0", "e-", 1)...)
	}
	return strconv.AppendFloat(to, f, 'f', -1, 64)
}

// appendJSONString quotes a string, escaping only what JSON demands: the quote,
// the backslash and control characters below U+0020.
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
		start = i + 1
		switch c {
		case '"', '\\':
			to = append(to, '\\', c)
		case '\n':
			to = append(to, `\n`...)
		case '\t':
			to = append(to, `\t`...)
		case '\r':
			to = append(to, `\r`...)
		case '\b':
			to = append(to, `\b`...)
		case '\f':
			to = append(to, `\f`...)
		default:
			to = append(to, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}
	return append(append(to, s[start:]...), '"')
}
