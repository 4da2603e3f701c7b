package dashboard

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/capstan-capi/capstan/message"
)

func TestEncoded_leaves_nothing_that_controls_what_is_shown(t *testing.T) {
	for text, want := range map[string]string{
		"plain: ö, 世界, 😀":                    "plain: ö, 世界, 😀",
		"<script>alert(1)</script>":          "<script>alert(1)</script>",
		"\"quoted\" \\ / \\u001b":            "\"quoted\" \\ / \\u001b",
		"two\nlines\tand\ra \x1b[2J\a\b\f":   "two\nlines and a \ufffd[2J\ufffd\ufffd ",
		"turned \u202e round \u2028 \u200b.": "turned \ufffd round   \ufffd.",
		"half \xc3":                          "half \ufffd",
		"\x7f\u009b":                         "\ufffd\ufffd",
	} {
		line, err := encoded(map[string]string{"text": text})
		var read map[string]string
		if err != nil || json.Unmarshal(line, &read) != nil || read["text"] != want {
			t.Errorf("%q is read as %q, want %q (%v)", text, read["text"], want, err)
		}
		if strings.ContainsAny(string(line), "<>&\n") {
			t.Errorf("%q is written as %s", text, line)
		}
	}
	for raw, want := range map[string]string{
		`"\ud83d\ude00\ud83d\u0041"`: "😀\ufffdA", `"\u202E\u000a\u00e9"`: "\ufffd\né", `"\/\b\"\\u001b"`: "/\ufffd\"\\u001b", `"\udb40\udc41"`: "\ufffd",
	} {
		line, err := encoded(json.RawMessage(raw))
		var read string
		if err != nil || json.Unmarshal(line, &read) != nil || read != want {
			t.Errorf("%s is read as %q, want %q (%v)", raw, read, want, err)
		}
	}
}

func TestEncoded_is_the_JSON_of_what_a_terminal_could_be_given(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := string(rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(rt, "text"))
		if rapid.Bool().Draw(rt, "valid") {
			text = rapid.String().Draw(rt, "string")
		}
		line, err := encoded(struct{ A, B string }{text, "b"})
		var read struct{ A, B string }
		if err != nil || json.Unmarshal(line, &read) != nil || read.B != "b" {
			rt.Fatalf("%q is written as %s (%v)", text, line, err)
		}
		if want := message.Lines(strings.ToValidUTF8(text, "\ufffd")); strings.Map(one, read.A) != strings.Map(one, want) {
			rt.Fatalf("%q is read as %q, a terminal gets %q", text, read.A, want)
		}
		for _, r := range read.A {
			if r != '\n' && !unicode.IsPrint(r) {
				rt.Fatalf("%q is read as %q", text, read.A)
			}
		}
	})
}

// one is for what a run of bytes that are no text is replaced by, one or several times.
func one(r rune) rune {
	if r == unicode.ReplacementChar {
		return -1
	}
	return r
}
