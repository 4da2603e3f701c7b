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

// Few leaves as many lines as a limit says, each cut to what people read, and one that counts the others.
func Few(lines []string, limit int) []string {
	var few []string
	for _, line := range lines[:min(len(lines), limit)] {
		few = append(few, message.ShortenInside(line, maxText))
	}
	if n := len(lines) - limit; n > 0 {
		few = append(few, more(n))
	}
	return few
}

// more counts lines that are not told.
func more(n int) string { return fmt.Sprintf("and %d more", n) }

// uncounted are the lines without the one of [Few], and what that counts.
func uncounted(lines []string) (told []string, n int) {
	if len(lines) > 0 {
		if _, err := fmt.Sscanf(lines[len(lines)-1], "and %d more", &n); err == nil {
			return lines[:len(lines)-1], n
		}
	}
	return lines, 0
}

// Text joins lines with "; " in at most so many bytes that can be printed. Lines that do not fit are counted: "and 3 more";
// those that [Few] has left out count, too.
func Text(lines []string, bytes int) string {
	if length(lines) <= 8*bytes { // what cannot be printed may become shorter
		if text := message.Line(strings.Join(lines, "; ")); len(text) <= bytes {
			return text
		}
	}
	lines, others := uncounted(lines)
	if len(lines) == 1 && others == 0 {
		return message.Shorten(lines[0], bytes)
	}
	fits, used := 0, 0
	for i, line := range lines {
		used += len(line) + len("; ")
		if used+len(more(others+len(lines)-i-1)) > bytes {
			break
		}
		fits = i + 1
	}
	if fits == 0 {
		rest := more(others + len(lines) - 1)
		return message.Shorten(lines[0], max(0, bytes-len("; ")-len(rest))) + "; " + rest
	}
	return message.Line(strings.Join(lines[:fits], "; ")) + "; " + more(others+len(lines)-fits)
}

// length is how many bytes lines have.
func length(lines []string) (bytes int) {
	for _, line := range lines {
		bytes += len(line)
	}
	return bytes
}
