package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/message"
)

// maxText bounds the text of every error of this package, in bytes.
const maxText = 2048

// File names inside a profile, as problems give them.
const (
	metadataFile  = "metadata.yaml"
	manifestsFile = "manifests.yaml"
)

// Problem is one thing that is wrong, and where it is. Fields that do not apply
// are empty: a problem of the whole revision has neither image nor profile.
type Problem struct {
	Image    string `json:"image,omitempty"`
	Profile  string `json:"profile,omitempty"`
	File     string `json:"file,omitempty"`
	Document int    `json:"document,omitempty"` // in File, counted from 1
	Line     int    `json:"line,omitempty"`     // in File, counted from 1
	Path     string `json:"path,omitempty"`     // of the field, such as spec.versions[0].name
	Object   string `json:"object,omitempty"`   // such as apps/v1 Deployment capi-system/manager; as exceptions call it, if it breaks a rule
	Rule     string `json:"rule,omitempty"`     // of the policy, which the object breaks
	Cause    string `json:"cause"`
}

// String is the problem in one line: place first, then cause. Characters that
// cannot be printed are replaced: an image may have them anywhere, and they could
// begin another line or control a terminal.
func (p Problem) String() string {
	var where []string
	add := func(format string, value any, given bool) {
		if given {
			where = append(where, fmt.Sprintf(format, value))
		}
	}
	add("image %s", p.Image, p.Image != "")
	add("profile %s", p.Profile, p.Profile != "")
	add("file %s", p.File, p.File != "")
	add("document %d", p.Document, p.Document > 0)
	add("line %d", p.Line, p.Line > 0)
	add("%s", p.Object, p.Object != "")
	add("field %s", p.Path, p.Path != "")
	add("rule %s of the policy", p.Rule, p.Rule != "")
	if len(where) == 0 {
		return message.Line(p.Cause)
	}
	return message.Line(strings.Join(where, ", ") + ": " + p.Cause)
}

func compareProblems(a, b Problem) int {
	return cmp.Or(
		cmp.Compare(a.Image, b.Image), cmp.Compare(a.Profile, b.Profile), cmp.Compare(a.File, b.File),
		cmp.Compare(a.Document, b.Document), cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Path, b.Path), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Cause, b.Cause),
	)
}

// ProblemsError is everything that is wrong with an input, sorted by place. Only a
// changed input heals it.
type ProblemsError []Problem

// Error says how many problems there are and lists as many as fit. Image and
// profile are named once for the problems of one profile.
func (p ProblemsError) Error() string {
	if len(p) == 1 {
		text, remedy := "rendering provider profiles: "+p[0].String(), ""
		if p[0].Image != "" {
			remedy = "; rebuild the image"
		}
		return message.Shorten(text, maxText-len(remedy)) + remedy
	}
	const room = 40 // for "and N more"
	text := fmt.Sprintf("rendering provider profiles: %d problems to be repaired in the images", len(p))
	for i, problem := range p {
		if i > 0 && problem.Image == p[i-1].Image && problem.Profile == p[i-1].Profile {
			problem.Image, problem.Profile = "", ""
		}
		next := message.Shorten(problem.String(), 500)
		if len(text)+len(next) > maxText-room {
			return fmt.Sprintf("%s; and %d more", text, len(p)-i)
		}
		text += "; " + next
	}
	return text
}

// Terminal is true: trying again with the same bytes ends the same.
func (ProblemsError) Terminal() bool { return true }

func (p ProblemsError) sorted() ProblemsError {
	slices.SortFunc(p, compareProblems)
	return slices.Compact(p)
}
