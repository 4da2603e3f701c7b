package payload

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/payload/ignition"
)

// configOf is an Ignition config with a file.
func configOf(t testing.TB, content string) []byte {
	t.Helper()
	config, err := ignition.Render(ignition.Content{Files: []ignition.File{{Path: "/etc/a", Mode: 0o644, Data: []byte(content)}}})
	must(t, err)
	return config
}

func noise(t testing.TB, bytes int) string {
	t.Helper()
	data := make([]byte, bytes)
	_, err := rand.Read(data)
	must(t, err)
	return base64.StdEncoding.EncodeToString(data)
}

func TestPacked_is_what_Unpacked_returns(t *testing.T) {
	for name, row := range map[string]struct {
		config []byte
		key    string
	}{
		"small": {configOf(t, "a"), ValueKey},
		"large": {configOf(t, strings.Repeat("a", 2<<20)), PackedKey},
	} {
		data, err := Packed(row.config)
		must(t, err)
		got, err := Unpacked(data)
		must(t, err)
		if !bytes.Equal(got, row.config) || len(data[row.key]) == 0 || string(data[FormatKey]) != "ignition" || len(data) != 2 {
			t.Errorf("%s: it has %d bytes", name, len(got))
		}
		again, err := Packed(row.config)
		must(t, err)
		if !bytes.Equal(again[row.key], data[row.key]) {
			t.Errorf("%s: it is packed otherwise each time", name)
		}
	}
}

func TestPacked_refuses_what_no_Secret_holds(t *testing.T) {
	_, err := Packed(configOf(t, noise(t, 3<<20)))
	if large, is := errors.AsType[ignition.TooLargeError](err); !is || large.Bytes < 3<<20 {
		t.Errorf("it says %v", err)
	}
}

func TestUnpacked_refuses_what_is_no_config(t *testing.T) {
	for name, data := range map[string]map[string][]byte{
		"nothing":        nil,
		"empty":          {ValueKey: nil},
		"no Ignition":    {ValueKey: []byte("hunter2")},
		"not compressed": {PackedKey: []byte("hunter2")},
		"another spec":   {ValueKey: []byte(`{"ignition":{"version":"9.0.0"}}`)},
	} {
		if got, err := Unpacked(data); err == nil || got != nil || strings.Contains(fmt.Sprint(err), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUnpacked_reads_no_more_than_a_config_may_have(t *testing.T) {
	data, err := Packed([]byte(strings.Repeat("a", configMost+1)))
	must(t, err)
	if _, err := Unpacked(data); err == nil || !strings.Contains(err.Error(), "bytes allowed") {
		t.Errorf("it says %v", err)
	}
}

func TestUnpacked_makes_no_more_values_of_a_config_than_one_may_have(t *testing.T) {
	for name, config := range map[string]string{
		"empty files without end": `{"ignition":{"version":"3.2.0"},"storage":{"files":[` + strings.Repeat("{},", 100_000) + `{}]}}`,
		"lists in lists":          strings.Repeat("[", 100_001),
	} {
		if _, err := Unpacked(map[string][]byte{ValueKey: []byte(config)}); err == nil || !strings.Contains(err.Error(), "values allowed") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSecretNames_follow_from_the_control_planes(t *testing.T) {
	for want, got := range map[string]string{
		"a-ignition-bootstrap": SecretName("a", Bootstrap), "a-ignition-master": SecretName("a", Master),
		"a-ignition-worker": SecretName("a", Worker), "a-ignition-keys": KeysName("a"),
	} {
		if got != want {
			t.Errorf("%s is %s", want, got)
		}
	}
	p := Payload{Bootstrap: []byte("b"), Master: []byte("m"), Worker: []byte("w")}
	for _, role := range Roles {
		if string(p.Of(role)) != string(role[:1]) {
			t.Errorf("role %s has %s", role, p.Of(role))
		}
	}
}
