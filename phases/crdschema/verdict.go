package crdschema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/message"
)

// Verdict is what a comparison has found, in lines such as "v1beta2: spec.a.b is missing", sorted and each once. A live
// definition is compatible if nothing is missing.
type Verdict struct{ Missing, Warnings []string }

// Ratchet is the verdict on a change: what is missing now and was not before stays missing, and all else warns. What is below a
// field or in a version that was missing was missing, too.
func (v Verdict) Ratchet(before Verdict) Verdict {
	var changed Verdict
	changed.Warnings = slices.Clone(v.Warnings)
	for _, line := range v.Missing {
		if slices.ContainsFunc(before.Missing, func(old string) bool { return covers(old, line) }) {
			changed.Warnings = append(changed.Warnings, line)
		} else {
			changed.Missing = append(changed.Missing, line)
		}
	}
	return changed.sorted()
}

// covers says that what a line tells has told what another one tells.
func covers(old, line string) bool {
	if old == line {
		return true
	}
	if version, ok := strings.CutSuffix(old, versionMissing); ok {
		return strings.HasPrefix(line, version+": ")
	}
	parent, ok := strings.CutSuffix(old, isMissing)
	rest, below := strings.CutPrefix(line, parent)
	return ok && below && rest != "" && strings.ContainsRune(".[{", rune(rest[0]))
}

func (v Verdict) sorted() Verdict {
	slices.Sort(v.Missing)
	slices.Sort(v.Warnings)
	v.Missing, v.Warnings = slices.Compact(v.Missing), slices.Compact(v.Warnings)
	return v
}

// Text joins lines with "; " in at most so many bytes that can be printed. Lines that do not fit are counted: "and 3 more".
func Text(lines []string, bytes int) string {
	text := message.Line(strings.Join(lines, "; "))
	if len(text) <= bytes {
		return text
	}
	if len(lines) == 1 {
		return message.Shorten(text, bytes)
	}
	rest := func(n int) string { return fmt.Sprintf("and %d more", n) }
	fits, length := 0, 0
	for i, line := range lines {
		length += len(line) + len("; ")
		if length+len(rest(len(lines)-i-1)) > bytes {
			break
		}
		fits = i + 1
	}
	if fits == 0 {
		first := max(0, bytes-len("; ")-len(rest(len(lines)-1)))
		return message.Shorten(lines[0], first) + "; " + rest(len(lines)-1)
	}
	return message.Line(strings.Join(lines[:fits], "; ")) + "; " + rest(len(lines)-fits)
}
