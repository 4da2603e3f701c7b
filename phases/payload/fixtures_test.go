package payload

import (
	"os"
	"strings"
	"testing"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/small/" + name)
	must(t, err)
	return data
}

// given are documents that are right.
func given(t testing.TB) Documents {
	t.Helper()
	return Documents{
		Secret:   "inputs",
		Data:     map[string][]byte{ConfigKey: fixture(t, "install-config.yaml"), StateKey: fixture(t, "state.json")},
		Replicas: 3,
	}
}

func configured(t testing.TB, old, instead string) Documents {
	t.Helper()
	d := given(t)
	delete(d.Data, StateKey)
	text := string(d.Data[ConfigKey])
	if !strings.Contains(text, old) {
		t.Fatalf("the install-config has no %q", old)
	}
	d.Data[ConfigKey] = []byte(strings.Replace(text, old, instead, 1))
	return d
}

func manifest(name, data string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: a}\ndata: {" + data + "}\n"
}

func secretOf(name, directory string, files ...string) ManifestSecret {
	s := ManifestSecret{Name: name, Directory: directory, Data: map[string][]byte{}}
	for i := 0; i < len(files); i += 2 {
		s.Data[files[i]] = []byte(files[i+1])
	}
	return s
}
