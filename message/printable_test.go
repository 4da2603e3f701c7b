package message

import "testing"

func TestPrintable_leaves_nothing_that_controls_a_terminal_or_begins_a_line(t *testing.T) {
	for text, want := range map[string]string{
		"plain, ö and …":                  "plain, ö and …",
		"a\nb\tc\r\nd\u2028e":             "a b c  d e",
		"\x1b]52;c;AAAA\x07 \x9b1m\u202e": "\ufffd]52;c;AAAA\ufffd \ufffd1m\ufffd",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if got, want := PrintableLines("a\n\x1bb\n"), "a\n\ufffdb\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
