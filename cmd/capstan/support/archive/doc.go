// Package archive is the form of what `capstan support` makes: one tar file, packed with gzip, of an index and the parts that it
// tells of. It writes the same bytes for the same parts, and reads in memory what nobody vouches for: it writes no file but the
// archive, follows no link, and bounds all that it takes. It knows no cluster, and not what the parts say.
package archive

import "time"

// Format is the version of the archive's form.
const Format = 1

// The limits of an archive.
const (
	// MaxFile bounds the bytes of one that is written, packed or not.
	MaxFile = 32 << 20
	// MaxRead and MaxEntries bound the bytes, packed and unpacked, and the entries of one that is read.
	MaxRead    = 128 << 20
	MaxEntries = 10_000
	// maxName bounds the name of a part, as the plainest form of a tar file does.
	maxName = 100
	// maxIndex bounds the index, and maxWhy a text in it.
	maxIndex = 4 << 20
	maxWhy   = 2 << 10
)

// indexName is the name of the index, which is first of all.
const indexName = "index.json"

// State is how much of a part is there.
type State string

// The states of a part.
const (
	Whole   State = "whole"
	Cut     State = "cut"
	Missing State = "missing"
)

// Index is what index.json says; its JSON is a promise.
type Index struct {
	Format int       `json:"format"`
	At     time.Time `json:"at"`
	// Capstan is the version of the command that made it.
	Capstan string  `json:"capstan"`
	Parts   []Entry `json:"parts"`
}

// Entry tells of one part.
type Entry struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Why says what is not there and why; empty for a whole part.
	Why string `json:"why,omitempty"`
	// Right is what whoever made the archive may not do, as in "list pods in namespace x"; empty unless that is why.
	Right string `json:"right,omitempty"`
	Bytes int    `json:"bytes"`
	// SHA256 is the digest of the content, in hexadecimal digits; empty for a missing part.
	SHA256 string `json:"sha256,omitempty"`
}

// Archive is one that was read, or that is to be written.
type Archive struct {
	Index   Index
	content map[string][]byte
}

// Of tells of a part, and gives its content.
func (a *Archive) Of(name string) (entry Entry, content []byte, found bool) {
	for _, e := range a.Index.Parts {
		if e.Name == name {
			return e, a.content[name], true
		}
	}
	return Entry{}, nil, false
}
