package images

import (
	"errors"
	"fmt"
	"strings"

	"github.com/capstan-capi/capstan/message"
)

// Kind groups errors by what their reader can do about them.
type Kind string

const (
	// KindReference errors are references that are not by digest or not well formed.
	KindReference Kind = "Reference"
	// KindNotFound errors are manifests, blobs or mounted folders that are not where they should be.
	KindNotFound Kind = "NotFound"
	// KindUnauthorized errors are credentials that are missing, wrong or not enough.
	KindUnauthorized Kind = "Unauthorized"
	// KindNetwork errors are registries that cannot be reached, or connections that break or stall.
	KindNetwork Kind = "Network"
	// KindRegistry errors are registries that answer, but with an error of their own.
	KindRegistry Kind = "Registry"
	// KindDigest errors are bytes that do not match the digest or length they were asked for by.
	KindDigest Kind = "Digest"
	// KindContent errors are images whose verified content is not a provider image.
	KindContent Kind = "Content"
	// KindLimit errors are images whose verified content exceeds a limit.
	KindLimit Kind = "Limit"
	// KindPolicy errors are images that the cluster's policies do not let in, or that they could not be asked about.
	KindPolicy Kind = "Policy"
	// KindDisk errors are mounted folders that cannot be read, and disks that layers cannot be written to.
	KindDisk Kind = "Disk"
)

// Error is the failure of one image; every Err of a State and every error of ParseRef is one.
type Error struct {
	// Ref is empty if the reference itself is what is wrong.
	Ref  Ref
	Kind Kind
	// Err says what happened and what to do next.
	Err error
}

// Error is one line, whatever a registry, a file or an image has put into it.
func (e *Error) Error() string {
	text := message.Line(e.Err.Error())
	if e.Ref == "" {
		return text
	}
	return fmt.Sprintf("provider image %s: %s", e.Ref, text)
}

func (e *Error) Unwrap() error { return e.Err }

// Terminal is true if the same reference can only fail again. KindDigest is not terminal: the reference may be right,
// and the registry, or a proxy before it, may be repaired without any change of input. For the same reason, errors
// about content are terminal only for bytes that matched their digest.
func (e *Error) Terminal() bool {
	return e.Kind == KindReference || e.Kind == KindContent || e.Kind == KindLimit
}

func fail(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}

// noPlaceHas returns the failure of an image that no place has provided. Its kind is that of the first place.
func noPlaceHas(failures []*Error, sourceExcluded bool) error {
	if len(failures) == 1 && !sourceExcluded {
		return failures[0]
	}
	if len(failures) == 0 {
		return fail(KindNotFound, "no mirror makes a valid reference for it and may be asked, and mirrorSourcePolicy NeverContactSource forbids asking the source; "+
			"check the ImageDigestMirrorSets and ImageContentSourcePolicies")
	}
	var said []string
	for _, failure := range failures {
		where, _, _ := strings.Cut(string(failure.Ref), "@")
		said = append(said, fmt.Sprintf("at %s: %s", where, message.Shorten(failure.Err.Error(), 300)))
	}
	if sourceExcluded {
		said = append(said, "the source is not asked, as mirrorSourcePolicy NeverContactSource forbids it")
	}
	return fail(failures[0].Kind, "%s", strings.Join(said, "; "))
}

func about(ref Ref, err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return &Error{Ref: ref, Kind: e.Kind, Err: e.Err}
	}
	return &Error{Ref: ref, Kind: KindDisk, Err: err}
}
