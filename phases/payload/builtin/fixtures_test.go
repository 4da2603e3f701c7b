package builtin

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/keys"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func pair(name string) keys.Pair {
	return keys.Pair{Certificate: []byte("the certificate of " + name + "\n"), Key: []byte("the key of " + name + "\n")}
}

// material says whose each byte is.
var material = keys.Material{
	ClusterCA: pair("ca"), EtcdCA: pair("etcd"), FrontProxyCA: pair("proxy"), ServiceAccount: pair("sa"), MachineConfigServerCA: pair("mcs"),
	MachineConfigServer: pair("the server of configs"), APIServer: pair("the API server"), Admin: pair("the administrator"),
	ClusterID: "11111111-2222-3333-4444-555555555555",
}

var small = Cluster{
	Name: "small", ReleaseImage: "registry.example.com/release@sha256:" + strings.Repeat("0", 64), Version: "4.22.1",
	Endpoint: "192.168.0.5:6443", Replicas: 3,
}

// given are documents that are right, of an install-config with further fields at its end.
func given(t testing.TB, further string, manifests ...payload.ManifestSecret) payload.Documents {
	t.Helper()
	text, err := os.ReadFile("../testdata/small/install-config.yaml")
	must(t, err)
	return payload.Documents{
		Secret: "inputs", Replicas: 3, Manifests: manifests,
		Data: map[string][]byte{payload.ConfigKey: append(text, further...)},
	}
}

func inputs(t testing.TB, further string, manifests ...payload.ManifestSecret) *payload.Inputs {
	t.Helper()
	in, err := payload.Read(given(t, further, manifests...))
	must(t, err)
	return in
}

func extra(name, file, text string) payload.ManifestSecret {
	return payload.ManifestSecret{Name: name, Directory: payload.OpenShiftFolder, Data: map[string][]byte{file: []byte(text)}}
}

// readConfig is what of an Ignition config is looked at.
type readConfig struct {
	Storage struct {
		Files []struct {
			Path     string
			Mode     int
			Contents struct{ Source string }
		}
	}
	Systemd struct {
		Units []struct {
			Name, Contents string
			Enabled        bool
		}
	}
	Passwd struct {
		Users []struct {
			Name              string
			SSHAuthorizedKeys []string
		}
	}
}

func files(t testing.TB, ignition []byte) map[string]string {
	t.Helper()
	var read readConfig
	must(t, json.Unmarshal(ignition, &read))
	found := map[string]string{}
	for _, file := range read.Storage.Files {
		found[file.Path] = content(t, file.Contents.Source)
	}
	return found
}

func content(t testing.TB, source string) string {
	t.Helper()
	_, data, has := strings.Cut(source, ",")
	if !has {
		t.Fatalf("%q is no data URL", source)
	}
	if strings.Contains(source[:len(source)-len(data)], ";base64") {
		text, err := base64.StdEncoding.DecodeString(data)
		must(t, err)
		return string(text)
	}
	text, err := url.PathUnescape(data)
	must(t, err)
	return text
}

// listing is an Ignition config as people read it.
func listing(t testing.TB, ignition []byte) string {
	t.Helper()
	var read readConfig
	must(t, json.Unmarshal(ignition, &read))
	var b strings.Builder
	for _, user := range read.Passwd.Users {
		fmt.Fprintf(&b, "== user %s: %q\n", user.Name, user.SSHAuthorizedKeys)
	}
	for _, unit := range read.Systemd.Units {
		fmt.Fprintf(&b, "== unit %s, enabled: %v\n%s", unit.Name, unit.Enabled, unit.Contents)
	}
	named := files(t, ignition)
	for _, name := range slices.Sorted(maps.Keys(named)) {
		i := slices.IndexFunc(read.Storage.Files, func(f struct {
			Path     string
			Mode     int
			Contents struct{ Source string }
		},
		) bool {
			return f.Path == name
		})
		fmt.Fprintf(&b, "== %s %04o\n%s\n", name, read.Storage.Files[i].Mode, strings.TrimSuffix(named[name], "\n"))
	}
	return b.String()
}
