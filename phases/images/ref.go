package images

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/capstan-capi/capstan/message"
)

const (
	refForm   = "host[:port]/path@sha256:<64 lowercase hex digits>"
	refLength = 447
)

// Ref is a reference by digest, as host[:port]/path@sha256:<64 hex>, accepted by ParseRef.
type Ref string

// The same expressions as in the validation rules of ImageDigestFormat in github.com/openshift/api: what is accepted
// here must never be refused when it is written into ClusterAPI.status.
var (
	digestForm = regexp.MustCompile(`^sha256:[a-f0-9]{64}$`)
	nameForm   = regexp.MustCompile(`^(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])` +
		`(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[(?:[a-fA-F0-9:]+)\])(?::[0-9]+)?` +
		`/[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*)*$`)
	tagForm = regexp.MustCompile(`:[A-Za-z0-9_][A-Za-z0-9._-]*$`)
)

// ParseRef accepts a reference by digest with an explicit host, as the ClusterAPI type does. Anything else is an
// *Error of KindReference that says what is wrong and what is asked for.
func ParseRef(s string) (Ref, error) {
	if problem := refProblem(s); problem != "" {
		return "", fail(KindReference, "image reference %q %s; write it as %s", message.Shorten(s, 160), problem, refForm)
	}
	return Ref(s), nil
}

func refProblem(s string) string {
	name, digest, hasDigest := strings.Cut(s, "@")
	host, path, hasHost := strings.Cut(name, "/")
	tag := tagForm.FindString(path)
	switch {
	case s == "":
		return "is empty"
	case len(s) > refLength:
		return fmt.Sprintf("has %d characters, more than the %d that are allowed", len(s), refLength)
	case strings.TrimSpace(s) != s:
		return "has white space around it"
	case strings.Contains(name, "://"):
		return "starts with a URL scheme"
	case !hasDigest && tag != "":
		return fmt.Sprintf("is by tag (%s), which may name another image tomorrow, not by digest", tag[1:])
	case !hasDigest:
		return "has no digest"
	case strings.Contains(digest, "@"):
		return "has more than one @"
	case !digestForm.MatchString(digest):
		return fmt.Sprintf("has the digest %q, which is not sha256 in 64 lowercase hex digits", digest)
	case tag != "":
		return fmt.Sprintf("has both a tag (%s) and a digest", tag[1:])
	case !hasHost:
		return "does not name the registry's host"
	case !nameForm.MatchString(name):
		return fmt.Sprintf("has a host or path (%q, %q) with characters or an order of them that are not allowed", host, path)
	}
	return ""
}

// Host is the registry, with its port if it has one.
func (r Ref) Host() string {
	host, _, _ := strings.Cut(string(r), "/")
	return host
}

// Repository is the path within the registry.
func (r Ref) Repository() string {
	_, rest, _ := strings.Cut(string(r), "/")
	path, _, _ := strings.Cut(rest, "@")
	return path
}

// Digest is the part after the @, with its algorithm: sha256:<64 hex>.
func (r Ref) Digest() string {
	_, digest, _ := strings.Cut(string(r), "@")
	return digest
}

// Short returns enough of a reference to tell images apart where a message has little room.
func (r Ref) Short() string {
	name, digest, _ := strings.Cut(string(r), "@sha256:")
	return name[strings.LastIndex(name, "/")+1:] + "@" + digest[:min(12, len(digest))]
}
