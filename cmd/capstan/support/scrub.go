package support

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/capstan-capi/capstan/message"
)

// secrets are what no text of a part may hold, wherever it came from: passwords in URLs, what proves who somebody is, and keys.
// Parts hold no field that is known to have any; this is the second wall, for texts that others had a say in.
var secrets = []struct {
	form *regexp.Regexp
	into string
}{
	{regexp.MustCompile(`://[^/\s@]*@`), "://…@"},
	{regexp.MustCompile(`(?i)\b(bearer|basic)([ =:]+)[a-z0-9._~+/=-]{8,}`), "$1$2…"},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(\.[A-Za-z0-9_-]*)?`), "…"},
	{regexp.MustCompile(`(?i)((?:token|password|passwd|secret|auth)\\?["']?\s*[:=]\s*\\?["']?)[^\s"'\\,&;]{8,}`), "$1…"},
	{regexp.MustCompile(`\bsha256~[A-Za-z0-9_-]{16,}`), "sha256~…"}, // tokens of OpenShift's own OAuth server
	{regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*`), "…"},
}

// scrubbed is text without secrets, and without what could control a terminal.
func scrubbed(text string) string {
	text = message.Lines(text)
	for _, s := range secrets {
		text = s.form.ReplaceAllString(text, s.into)
	}
	return text
}

// jsonOf writes a value with every string scrubbed.
func jsonOf(value any, indent string) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("writing it: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, fmt.Errorf("reading what was written: %w", err)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(scrubbedTree(tree)); err != nil {
		return nil, fmt.Errorf("writing it: %w", err)
	}
	return out.Bytes(), nil
}

func scrubbedTree(tree any) any {
	switch t := tree.(type) {
	case string:
		return scrubbed(t)
	case []any:
		for i := range t {
			t[i] = scrubbedTree(t[i])
		}
	case map[string]any:
		clean := make(map[string]any, len(t))
		for key, value := range t {
			clean[scrubbed(key)] = scrubbedTree(value)
		}
		return clean
	}
	return tree
}
