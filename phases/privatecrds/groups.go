package privatecrds

import (
	"regexp"
	"strings"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

// private is the private group of a standard one. False says that it is none of the standard groups.
func private(group string) (string, bool) {
	mapped, match := rewrite.ToServer.Group(group)
	if match != rewrite.Mapped || !strings.HasSuffix(mapped, rewrite.Private) {
		return group, false
	}
	return mapped, true
}

// privateName is the name of the private definition for a standard one, as <plural>.<group>.
func privateName(name string) (string, bool) {
	mapped, match := rewrite.ToServer.CRDName(name)
	if match != rewrite.Mapped || !strings.HasSuffix(mapped, rewrite.Private) {
		return name, false
	}
	return mapped, true
}

var (
	// run is text that may be a group, or have one as its end.
	run = regexp.MustCompile(`[A-Za-z0-9.-]+`)
	// labelName is what follows a group where the two are the key of a label.
	labelName = regexp.MustCompile(`^/([A-Za-z0-9][A-Za-z0-9._-]*)`)
	version   = regexp.MustCompile(`^v[0-9]`)
	// dot is how a regular expression writes a dot.
	dot = strings.NewReplacer(`\\.`, ".", `\.`, ".", "[.]", ".")
)

// standardIn finds a standard group that stands in a text as a whole, or before a version, as it would where somebody compares
// the apiVersion of an object with it. Before another word it is part of the key of a label or an annotation, and those are the
// same in both groups.
func standardIn(text string) (group string, found bool) {
	text = dot.Replace(text)
	for _, at := range run.FindAllStringIndex(text, -1) {
		word := strings.TrimRight(text[at[0]:at[1]], ".")
		_, is := private(word)
		if _, crd := privateName(word); !is && !crd {
			continue
		}
		if key := labelName.FindStringSubmatch(text[at[0]+len(word):]); len(key) == 2 && !version.MatchString(key[1]) {
			continue
		}
		return word, true
	}
	return "", false
}
