package message

import (
	"os/exec"
	"testing"
)

func TestShellWord_is_one_word_of_which_a_shell_makes_nothing(t *testing.T) {
	for _, text := range []string{"plain-1.2/x", "", "two words", "$(echo x)", "`echo x`", "it's \"so\"", `a\b`, "a;b|c&d>e*?~!#", "-n"} {
		got, err := exec.CommandContext(t.Context(), "sh", "-c", "printf '%s|' "+ShellWord(text)).Output()
		if err != nil || string(got) != text+"|" {
			t.Errorf("%q is %s, and a shell makes %q of it (%v)", text, ShellWord(text), got, err)
		}
	}
	if got := ShellWord("a\x1b[2Jb\nc"); got != ShellWord(Line("a\x1b[2Jb\nc")) {
		t.Errorf("what controls a terminal is %q", got)
	}
}
