package job

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
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
	regexp.MustCompile(`(://)[^/\s"'\\]*@`),
}

// secretFields are those of an install-config that hold credentials, on any platform, and those of keys in the installer's state, which
// writes them in capitals. All are in small letters.
var secretFields = []string{"pullsecret", "password", "passwordhash", "token", "apikey", "kubeconfig", "clientsecret", "keyraw", "priv"}

// keyField is one that only the installer's state has so: in small letters it is that of taints.
const keyField = "Key"

// Secrets are the texts of a folder, as Folder returns it, that nobody may read in a log, the longest first.
func Secrets(files map[string][]byte) []string {
	found := map[string]bool{}
	add := func(text string) {
		for _, form := range forms(text) {
			if len(form) >= secretLeast && !strings.Contains(redacted, form) {
				found[form] = true
			}
		}
	}
	for _, data := range files {
		documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
		for text, err := documents.Read(); err == nil; text, err = documents.Read() {
			var tree any
			if yaml.Unmarshal(text, &tree) == nil {
				collectSecrets(tree, add)
			}
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
}

// collectSecrets finds the secret fields of a tree, and all that a Secret holds.
func collectSecrets(tree any, add func(string)) {
	switch tree := tree.(type) {
	case map[string]any:
		if tree["kind"] == "Secret" {
			collectData(tree, add)
		}
		for name, value := range tree {
			text, is := value.(string)
			if !is || name != keyField && !slices.Contains(secretFields, strings.ToLower(name)) {
				collectSecrets(value, add)
				continue
			}
			add(text)
			if name == "pullSecret" {
				collectAuths(text, add)
			}
		}
	case []any:
		for _, value := range tree {
			collectSecrets(value, add)
		}
	}
}

func collectData(secret map[string]any, add func(string)) {
	for _, field := range []string{"data", "stringData"} {
		values, _ := secret[field].(map[string]any)
		for _, value := range values {
			text, _ := value.(string)
			add(text)
			if plain, err := base64.StdEncoding.DecodeString(text); err == nil && field == "data" {
				add(string(plain))
			}
		}
	}
}

func collectAuths(pullSecret string, add func(string)) {
	var pull struct {
		Auths map[string]struct {
			Auth string `json:"auth"`
		} `json:"auths"`
	}
	if json.Unmarshal([]byte(pullSecret), &pull) != nil {
		return
	}
	for _, entry := range pull.Auths {
		add(entry.Auth)
		if user, err := base64.StdEncoding.DecodeString(entry.Auth); err == nil {
			_, password, _ := strings.Cut(string(user), ":")
			add(password)
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
