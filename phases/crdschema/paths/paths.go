// Package paths has the URL paths of the checker's webhooks: whoever writes webhook configurations and whoever serves them
// read the same words.
package paths

import (
	"strconv"
	"strings"
)

// Paths of the endpoints that no single requirement has.
const (
	Requirements = "/requirements"
	CRDsDeny     = "/crds/deny"
	CRDsWarn     = "/crds/warn"
)

// Prefixes of the paths that each requirement has for itself.
const (
	Objects = "/objects/"
	// ObjectsWarn is Objects for what only warns: nothing is ever refused there.
	ObjectsWarn = "/objects-warn/"
	Prune       = "/prune/"
)

// Subject is the requirement that a path of objects belongs to, as it was when the path was written.
type Subject struct {
	Name       string
	UID        string
	Generation int64
}

// Path is prefix (Objects, ObjectsWarn or Prune), name, UID and generation.
func (s Subject) Path(prefix string) string {
	return prefix + s.Name + "/" + s.UID + "/" + strconv.FormatInt(s.Generation, 10)
}

// Parse gives the subject of a path that Path has written with this prefix, and false for any other.
func Parse(prefix, path string) (Subject, bool) {
	rest, ok := strings.CutPrefix(path, prefix)
	if !ok {
		return Subject{}, false
	}
	parts := strings.Split(rest, "/")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" {
		return Subject{}, false
	}
	generation, err := strconv.ParseInt(parts[2], 10, 64)
	subject := Subject{Name: parts[0], UID: parts[1], Generation: generation}
	if err != nil || generation < 1 || subject.Path(prefix) != path {
		return Subject{}, false
	}
	return subject, true
}
