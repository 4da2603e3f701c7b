package machine

import (
	"testing"
	"unicode/utf8"
)

func TestShorten_cuts_between_characters_and_shows_it(t *testing.T) {
	for _, row := range []struct {
		text  string
		bytes int
		want  string
	}{
		{"short", 5, "short"},
		{"longer", 5, "lo…"},
		{"öööö", 6, "ö…"},
		{"öööö", 7, "öö…"},
		{"anything", 2, ""},
		{"anything", -1, ""},
		{"", 0, ""},
	} {
		got := Shorten(row.text, row.bytes)
		if got != row.want || !utf8.ValidString(got) {
			t.Errorf("Shorten(%q, %d) is %q, not %q", row.text, row.bytes, got, row.want)
		}
	}
}
