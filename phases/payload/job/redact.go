package job

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/capstan-capi/capstan/phases/payload"
)

const (
	// TailBytes is how much of a log is told, at most.
	TailBytes = 4 << 10

	// logMost is how much of a log is looked at: more than a tail, since taking secrets out makes it shorter.
	logMost = 1 << 20
	// secretLeast is how long a text is that is looked for in a log: a shorter one is in every text by chance.
	secretLeast = 6
	redacted    = "[redacted]"
)

// looksSecret are texts that look like secrets, whoever wrote them. What is in the first group stays.
var looksSecret = []*regexp.Regexp{
	regexp.MustCompile(`(?s)()-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\z)`),
	regexp.MustCompile(`(?s)()\A.*?-----END [A-Z0-9 ]*PRIVATE KEY-----`),
	regexp.MustCompile(`(?i)(\bbearer\s+)[a-z0-9._~+/=-]+`),
	regexp.MustCompile(`(?i)(\\?"?(?:auth|password|passwd|token|secret|secretkey|secret_access_key|apikey|api_key)\\?"?\s*[:=]\s*)(?:\\?"(?:[^"\\\n]|\\[^"])*\\?"?|[^\s,;}"]+)`),
	regexp.MustCompile(`(://)[^/\s@]*:[^/\s@]*@`),
}

// secretFields are those of an install-config that hold credentials, on any platform.
var secretFields = []string{"pullSecret", "password", "token", "apiKey", "kubeconfig", "clientSecret"}

// Secrets are the texts of inputs that nobody may read in a log, the longest first.
func Secrets(in *payload.Inputs) []string {
	found := map[string]bool{}
	add := func(text string) {
		for _, form := range forms(text) {
			if len(form) >= secretLeast && !strings.Contains(redacted, form) {
				found[form] = true
			}
		}
	}
	collectSecrets(in.Raw, add)
	var pull struct {
		Auths map[string]struct {
			Auth string `json:"auth"`
		} `json:"auths"`
	}
	if json.Unmarshal([]byte(in.Config.PullSecret), &pull) == nil {
		for _, entry := range pull.Auths {
			add(entry.Auth)
			if user, err := base64.StdEncoding.DecodeString(entry.Auth); err == nil {
				_, password, _ := strings.Cut(string(user), ":")
				add(password)
			}
		}
	}
	for _, manifest := range in.Manifests {
		if manifest.Object.GetKind() != "Secret" {
			continue
		}
		for _, field := range []string{"data", "stringData"} {
			values, _ := manifest.Object.Object[field].(map[string]any)
			for _, value := range values {
				text, _ := value.(string)
				add(text)
				if plain, err := base64.StdEncoding.DecodeString(text); err == nil && field == "data" {
					add(string(plain))
				}
			}
		}
	}
	all := make([]string, 0, len(found))
	for text := range found {
		all = append(all, text)
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return all
}

// collectSecrets finds the secret fields of a tree.
func collectSecrets(tree any, add func(string)) {
	switch tree := tree.(type) {
	case map[string]any:
		for name, value := range tree {
			if text, is := value.(string); is && slices.Contains(secretFields, name) {
				add(text)
				continue
			}
			collectSecrets(value, add)
		}
	case []any:
		for _, value := range tree {
			collectSecrets(value, add)
		}
	}
}

// forms are the ways in which a program may write a text, and each of its lines.
func forms(text string) []string {
	quoted := strconv.Quote(text)
	all := []string{text, quoted[1 : len(quoted)-1], base64.StdEncoding.EncodeToString([]byte(text))}
	for line := range strings.Lines(text) {
		all = append(all, strings.TrimSpace(line))
	}
	return all
}

// Tail returns the end of a log, at most TailBytes, without secrets: those that are given, the longest first, and whatever looks
// like one.
func Tail(log []byte, secrets []string) string {
	text := string(log)
	if len(text) > logMost {
		text = text[len(text)-logMost:]
		// A line that is cut may begin in the middle of a secret.
		_, text, _ = strings.Cut(text, "\n")
	}
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	for _, form := range looksSecret {
		text = form.ReplaceAllString(text, "${1}"+redacted)
	}
	text = strings.ToValidUTF8(text, "")
	if len(text) <= TailBytes {
		return text
	}
	cut := len(text) - TailBytes
	for !utf8.RuneStart(text[cut]) {
		cut++
	}
	return text[cut:]
}
