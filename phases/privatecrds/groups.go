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
	labelName = regexp.MustCompile(`^/[A-Za-z0-9][A-Za-z0-9._-]*`)
	// indexed is what stands before the key of a label or an annotation in CEL: labels[' or, to ask for one, ' in labels behind it.
	indexed   = regexp.MustCompile(`\b(labels|annotations)\s*\[\s*\??\s*['"]$`)
	askedFor  = regexp.MustCompile(`^['"]\s+in\s+[A-Za-z0-9_.]*\b(labels|annotations)\b`)
	unescaped = strings.NewReplacer(`\\.`, ".", `\.`, ".", "[.]", ".", `\\-`, "-", `\-`, "-", `\\/`, "/", `\/`, "/")
)

// standardIn finds a standard group in a text, as it stands where somebody compares the group or the apiVersion of an object with it:
// as a whole, as the end of one, or behind an expression that stands for the beginning. The key of a label or an annotation is the
// same in both groups, but it is taken for one only where CEL looks it up.
func standardIn(text string) (group string, found bool) {
	text = unescaped.Replace(text)
	for _, at := range run.FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		start := at[0] + len(word) - len(strings.TrimLeft(word, "."))
		word = strings.Trim(word, ".")
		_, is := private(word)
		if _, crd := privateName(word); !is && !crd {
			continue
		}
		if isKey(text, start, start+len(word)) {
			continue
		}
		return word, true
	}
	return "", false
}

// isKey says that a group, from one offset of a text to another, begins the key of a label or an annotation that is looked up.
func isKey(text string, from, to int) bool {
	name := labelName.FindString(text[to:])
	return name != "" && (indexed.MatchString(text[:from]) || askedFor.MatchString(text[to+len(name):]))
}
