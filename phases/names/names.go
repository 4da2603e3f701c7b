// Package names makes names of objects out of whatever text. It knows no kind.
package names

import "strings"

// Subdomain is text as a DNS subdomain of at most so many bytes, as names of
// objects must be; empty if nothing of it is left. What DNS does not allow
// becomes a dash, so several texts may become one: whoever needs to tell them
// apart adds a hash of the text.
func Subdomain(text string, bytes int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '.':
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, text)
	text = text[:max(0, min(len(text), bytes))]
	var labels []string
	for label := range strings.SplitSeq(text, ".") {
		if label = strings.Trim(label, "-"); label != "" {
			labels = append(labels, label)
		}
	}
	return strings.Join(labels, ".")
}
