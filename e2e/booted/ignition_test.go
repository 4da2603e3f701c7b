package booted

import (
	"bytes"
	"strings"
	"testing"
)

func TestADiskHasWhatTheFilesOfAConfigSay(t *testing.T) {
	written, err := provisioned([]byte(`{"ignition":{"version":"3.2.0"},"storage":{"files":[
		{"path":"/opt/openshift/tls/kube-ca.crt","contents":{"source":"data:,a%20certificate"}},
		{"path":"/opt/openshift/tls/kube-ca.key","contents":{"source":"data:;base64,YSBrZXk="}},
		{"path":"/empty"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	authority := written.identity().Authority
	if string(authority.Certificate) != "a certificate" || string(authority.Key) != "a key" || len(written) != 2 {
		t.Errorf("it has %q, and the authority is %q", written, authority)
	}
}

func TestNothingBootsFromAConfigThatLacksTheKubeconfigOrCannotBeRead(t *testing.T) {
	for _, config := range []string{
		`{`, `{"ignition":{"version":"3.2.0"}}`,
		`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/a","contents":{"source":"https://elsewhere.example.com/a"}}]}}`,
	} {
		if _, err := Boot(t.Context(), t.TempDir(), []byte(config)); err == nil {
			t.Errorf("%s boots", config)
		}
	}
}

func TestAPointerIsToOneServerOfOneAuthority(t *testing.T) {
	const (
		server    = `{"source":"https://api-int.one.example.com:22623/config/master"}`
		authority = `{"source":"data:;base64,YW4gYXV0aG9yaXR5"}`
	)
	config := func(servers, authorities, more string) []byte {
		return []byte(`{"ignition":{"version":"3.2.0","config":{"merge":[` + servers + `]},"security":{"tls":{"certificateAuthorities":[` + authorities + `]}}}` + more + `}`)
	}
	pointer, err := PointerOf(config(server, authority, ""))
	if err != nil || !strings.HasSuffix(pointer.URL, ":22623/config/master") || !bytes.Equal(pointer.Trusts, []byte("an authority")) {
		t.Errorf("it is %q of %q, %v", pointer.URL, pointer.Trusts, err)
	}
	for _, refused := range [][]byte{
		[]byte(`{`), config("", authority, ""), config(server+","+server, authority, ""), config(server, "", ""),
		config(server, `{"source":"elsewhere"}`, ""), config(server, authority, `,"storage":{"files":[{"path":"/a"}]}`),
	} {
		if _, err := PointerOf(refused); err == nil {
			t.Errorf("%s is a pointer", refused)
		}
	}
}
