package job

import (
	"encoding/base64"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestTail_takes_out_what_is_secret_in_the_inputs(t *testing.T) {
	in := inputs(t, false, own)
	files, err := Folder(in)
	must(t, err)
	secrets := Secrets(files)
	log := strings.Join([]string{
		"level=info msg=Credentials loaded from the pull secret " + in.Config.PullSecret,
		"level=error msg=" + strconv.Quote(in.Config.PullSecret),
		"the password is hunter2, the Secret has hunter4-of-a-secret and hunter5-of-a-secret",
		base64.StdEncoding.EncodeToString([]byte("hunter4-of-a-secret")),
	}, "\n")
	if tail := Tail([]byte(log), secrets); strings.Contains(tail, "hunter") || strings.Contains(tail, "aHVudGVy") || strings.Contains(tail, "cHVsbGVy") ||
		!strings.Contains(tail, "level=info msg=Credentials loaded from the pull secret [redacted]") {
		t.Errorf("it tells %s", tail)
	}
}

func TestTail_takes_out_what_looks_like_a_secret(t *testing.T) {
	for name, c := range map[string]struct{ log, want string }{
		"a key":                  {"a\n-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----\nb", "a\n[redacted]\nb"},
		"a key that is cut":      {"a\n-----BEGIN PRIVATE KEY-----\nhunter2", "a\n[redacted]"},
		"a key cut at its start": {"hunter2\n-----END EC PRIVATE KEY-----\nb", "[redacted]\nb"},
		"a bearer":               {"Authorization: Bearer hunter2.x-y", "Authorization: Bearer [redacted]"},
		"an auth":                {`{"auth": "hunter2"}`, `{"auth": [redacted]}`},
		"an escaped auth":        {`msg="{\"auth\":\"hunter2\"}"`, `msg="{\"auth\":[redacted]}"`},
		"a password":             {"vcenter password=hunter2 is wrong", "vcenter password=[redacted] is wrong"},
		"one in a URL":           {"Get https://admin:hunter2@vcenter/sdk: EOF", "Get https://[redacted]vcenter/sdk: EOF"},
		"one with an at sign":    {"proxy http://admin:hunter@2@proxy:3128 refuses", "proxy http://[redacted]proxy:3128 refuses"},
		"a token in a URL":       {`clone "https://hunter2token@git.example.com/a": EOF`, `clone "https://[redacted]git.example.com/a": EOF`},
		"an image by its digest": {"pull docker://quay.io/a/b@sha256:00", "pull docker://quay.io/a/b@sha256:00"},
		"nothing":                {"level=info msg=Consuming Install Config from target directory", "level=info msg=Consuming Install Config from target directory"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Tail([]byte(c.log), nil); got != c.want {
				t.Errorf("it tells %q, want %q", got, c.want)
			}
		})
	}
}

func TestTail_tells_no_secret_wherever_it_stands_and_how_long_the_log_may_be(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Z0-9]{6,60}`), 1, 4, rapid.ID).Draw(t, "secrets")
		var b strings.Builder
		for range rapid.IntRange(1, 60).Draw(t, "parts") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				b.WriteString(rapid.SampledFrom(secrets).Draw(t, "secret"))
			case 1:
				b.WriteString(strings.Repeat("\u00e4 ", rapid.IntRange(0, 300).Draw(t, "filler")))
			case 2:
				b.WriteByte(rapid.Byte().Draw(t, "byte"))
			case 3:
				b.WriteString("\n")
			}
		}
		// The longest first, as Secrets returns them.
		all := secrets
		for i := range all {
			for j := range all[:i] {
				if len(all[j]) < len(all[i]) {
					all[i], all[j] = all[j], all[i]
				}
			}
		}
		tail := Tail([]byte(b.String()), all)
		if len(tail) > TailBytes || !utf8.ValidString(tail) {
			t.Fatalf("it has %d bytes", len(tail))
		}
		for _, secret := range secrets {
			if strings.Contains(tail, secret) {
				t.Fatalf("it tells %s", secret)
			}
		}
	})
}

func TestTail_begins_at_a_line_where_a_log_is_endless(t *testing.T) {
	log := strings.Repeat("x", 100) + "\n"
	tail := Tail([]byte(strings.Repeat(log, 2*logMost/len(log))), []string{"xxxxxx"})
	if len(tail) > TailBytes || strings.Contains(tail, "xxxxxx") {
		t.Errorf("it tells %d bytes", len(tail))
	}
}

func TestSecrets_are_those_of_the_installers_state_too(t *testing.T) {
	in := inputs(t, true)
	files, err := Folder(in)
	must(t, err)
	if tail := Tail([]byte("x "+in.Config.PullSecret+" hunter2"), Secrets(files)); strings.Contains(tail, "hunter2") || strings.Contains(tail, "cHVsbGVy") {
		t.Errorf("it tells %s", tail)
	}
}

func TestSecrets_of_the_state_are_found_however_its_fields_are_written(t *testing.T) {
	state := `{"*password.KubeadminPassword":{"Password":"hunter2-of-kubeadmin","PasswordHash":"aHVudGVyMmhhc2g="},` +
		`"*tls.RootCA":{"KeyRaw":"aHVudGVyMmtleQ=="},"*tls.BootstrapSSHKeyPair":{"Priv":"aHVudGVyMnByaXY="},` +
		`"*installconfig.InstallConfig":{"config":{"controlPlane":{"taints":[{"key":"node-role.kubernetes.io/master"}]}}}}`
	log := "hunter2-of-kubeadmin aHVudGVyMmhhc2g= aHVudGVyMmtleQ== aHVudGVyMnByaXY= node-role.kubernetes.io/master"
	if tail := Tail([]byte(log), Secrets(map[string][]byte{"state": []byte(state)})); strings.Contains(tail, "hunter") || strings.Contains(tail, "aHVudGVy") ||
		!strings.HasSuffix(tail, " node-role.kubernetes.io/master") {
		t.Errorf("it tells %s", tail)
	}
}
