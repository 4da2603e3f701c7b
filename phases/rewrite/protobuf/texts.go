package protobuf

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

// TextsOf are the texts of a body of the request, on its way in a direction. The error for a group that is not the client's to
// address is a *rewrite.Error.
func TextsOf(r *rewrite.Request, d rewrite.Direction) *Texts {
	texts := &Texts{
		GroupVersion:  func(text string) string { return first(d.GroupVersion(text)) },
		Group:         func(text string) string { return first(d.GroupVersion(text)) },
		Name:          func(text string) string { return first(d.CRDName(text)) },
		OfDefinitions: r.Class == rewrite.Definitions,
		Prose:         func(text string) string { return text },
		Path:          rewrite.DocumentPath,
		Definition:    rewrite.Definition,
		Kind:          rewrite.Discovered,
		Reference:     rewrite.DefinitionRef,
	}
	texts.RootVersion = func(text string) (string, error) { return texts.GroupVersion(text), nil }
	if d == rewrite.ToClient {
		texts.Prose = rewrite.Message
	} else {
		texts.RootVersion = addressed
	}
	return texts
}

func first(text string, _ rewrite.Match) string { return text }

// addressed is the apiVersion of what a client addresses.
func addressed(apiVersion string) (string, error) {
	mapped, match := rewrite.ToServer.GroupVersion(apiVersion)
	group, _, _ := strings.Cut(mapped, "/")
	if match == rewrite.Mapped && !strings.HasSuffix(group, rewrite.Private) {
		return "", &rewrite.Error{
			Code: http.StatusBadRequest, Offset: -1,
			Text: fmt.Sprintf("apiVersion %s cannot be addressed here: it is not this client's own; use the group %s", apiVersion, rewrite.Standard),
		}
	}
	return mapped, nil
}
