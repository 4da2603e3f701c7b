package message

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
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
		{"half a character: \xc3", 40, "half a character: \ufffd"},
		{"\xff\xff", 1, ""},
		{"anything", 2, ""},
		{"anything", -1, ""},
		{"", 0, ""},
	} {
		if got := Shorten(row.text, row.bytes); got != row.want {
			t.Errorf("Shorten(%q, %d) is %q, not %q", row.text, row.bytes, got, row.want)
		}
	}
}

func TestShortenInside_leaves_both_ends(t *testing.T) {
	for _, row := range []struct {
		text  string
		bytes int
		want  string
	}{
		{"short", 5, "short"},
		{"spec.template.name", 14, "spec.…e.name"},
		{"spec.template.name", 13, "spec.….name"},
		{"öööö", 7, "ö…ö"},
		{"öööö", 6, "…ö"},
		{"one\x1btwo", 40, "one\ufffdtwo"},
		{"\xff\xff\xff", 3, "…"},
		{"anything", 2, ""},
		{"anything", -1, ""},
	} {
		if got := ShortenInside(row.text, row.bytes); got != row.want {
			t.Errorf("ShortenInside(%q, %d) is %q, not %q", row.text, row.bytes, got, row.want)
		}
	}
}

func TestLine_and_Lines_leave_nothing_that_controls_a_terminal(t *testing.T) {
	for text, want := range map[string]string{
		"plain: ö, 世界, …":     "plain: ö, 世界, …",
		"\x1b[2Jgone":         "\ufffd[2Jgone",
		"a\r\tb\u0085\u2028c": "a  b  c",
		"bell\a \x7f \u009b":  "bell\ufffd \ufffd \ufffd",
		"turned \u202e round": "turned \ufffd round",
		"half \xc3":           "half \ufffd",
	} {
		for _, got := range []string{Line(text), Lines(text), Shorten(text, 100), ShortenLines(text, 100)} {
			if got != want {
				t.Errorf("%q is %q, not %q", text, got, want)
			}
		}
	}
	if one, two, short := Line("a\nb\x1b"), Lines("a\nb\x1b"), ShortenLines("a\nb\x1b", 4); one != "a b\ufffd" || two != "a\nb\ufffd" || short != "a…" {
		t.Errorf("%q, %q and %q", one, two, short)
	}
}

func TestShorten_gives_what_the_API_stores_unchanged(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := string(rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(rt, "text"))
		if rapid.Bool().Draw(rt, "valid") {
			text = rapid.String().Draw(rt, "string")
		}
		bytes := rapid.IntRange(-1, 70).Draw(rt, "bytes")
		got := Shorten(text, bytes)
		if len(got) > max(bytes, 0) || !utf8.ValidString(got) {
			rt.Fatalf("%d bytes were asked for, got %q", bytes, got)
		}
		if !strings.HasSuffix(got, "…") && got != "" && got != Line(text) {
			rt.Fatalf("%q does not show that it is cut", got)
		}
		encoded, err := json.Marshal(got)
		if err != nil {
			rt.Fatal(err)
		}
		var stored string
		if err := json.Unmarshal(encoded, &stored); err != nil || stored != got {
			rt.Fatalf("%q is stored as %q (%v)", got, stored, err)
		}
	})
}

func TestDuration_leaves_out_what_is_zero(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "250ms": 250 * time.Millisecond, "30s": 30 * time.Second, "5m": 5 * time.Minute, "10m30s": 630 * time.Second,
		"2h": 2 * time.Hour, "1h30m": 90 * time.Minute, "1h0m5s": time.Hour + 5*time.Second,
	} {
		if got := Duration(d); got != want {
			t.Errorf("%s is written as %s, not %s", d, got, want)
		}
	}
}
