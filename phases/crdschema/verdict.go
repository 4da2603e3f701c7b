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
	told := told(before.Missing)
	changed := Verdict{Warnings: slices.Clone(v.Warnings)}
	for _, line := range v.Missing {
		if told.covers(line) {
			changed.Warnings = append(changed.Warnings, line)
		} else {
			changed.Missing = append(changed.Missing, line)
		}
	}
	return changed.sorted()
}

// covering are the lines that tell what longer ones tell, too.
type covering struct {
	lines map[string]bool
	// fields are what is before " is missing", versions what is before ": the version is missing".
	fields, versions map[string]bool
}

// told makes each line findable by its beginning: there may be ten thousands, on both sides.
func told(lines []string) covering {
	c := covering{lines: map[string]bool{}, fields: map[string]bool{}, versions: map[string]bool{}}
	for _, line := range lines {
		c.lines[line] = true
		if version, ok := strings.CutSuffix(line, versionMissing); ok {
			c.versions[version] = true
		} else if field, ok := strings.CutSuffix(line, isMissing); ok {
			c.fields[field] = true
		}
	}
	return c
}

// covers says that one of the lines has told what a line tells.
func (c covering) covers(line string) bool {
	if c.lines[line] {
		return true
	}
	for i := range len(line) {
		switch line[i] {
		case '.', '[', '{':
			if c.fields[line[:i]] {
				return true
			}
		case ':':
			if strings.HasPrefix(line[i:], ": ") && c.versions[line[:i]] {
				return true
			}
		}
	}
	return false
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
