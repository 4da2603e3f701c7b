package terminal

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestJSON_is_the_same_JSON_without_what_controls_a_terminal(t *testing.T) {
	const hostile = "a\u009b2Jb\u202ec\u200bd\U000e0041e\x1b[0mf g\u00a0h é 漢"
	var out bytes.Buffer
	if err := JSON(&out, map[string]string{"text": hostile}); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\u009b\u202e\u200b\u00a0\x1b\U000e0041") || !strings.Contains(out.String(), "é 漢") {
		t.Errorf("printed is %q", out.String())
	}
	var read map[string]string
	if err := json.Unmarshal(out.Bytes(), &read); err != nil || read["text"] != hostile {
		t.Errorf("it is read as %q (%v)", read["text"], err)
	}
}
