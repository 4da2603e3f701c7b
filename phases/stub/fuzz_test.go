package stub_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/capstan-capi/capstan/phases/stub"
)

// FuzzStub reads whatever there may be: it ends, and what it converts to stays as it is.
func FuzzStub(f *testing.F) {
	for _, text := range []string{
		"", "{}", "null", "#!", "\x1f\x8b", `{"ignition":{"version":"3.1.0"}}`, `{"ignition":{"version":"2.2.0"}}`, spec2(onVar + `,"files":[` + hunterFile + `]}`),
		spec2(`"passwd":{"users":[{"name":"core","create":{"uid":1}},{"name":"core"}]},"storage":{"disks":[{"device":"/dev/a","partitions":[{"number":1,"size":2048,"start":0}]}]}`),
		spec2(`"storage":{"links":[{"filesystem":"root","path":"/a","target":"b","hard":true}],"raid":[{"name":"r","level":"1","devices":["/dev/a"]}],"filesystems":[{"mount":{"device":"/dev/a","format":"xfs","create":{}}}]}`),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, userData []byte) {
		if len(userData) > 1<<16 {
			return // what takes long has a test of its own
		}
		version, err := stub.Read(userData)
		result, why := stub.Convert(userData)
		if why != nil {
			if kind := (stub.UnconvertibleError{}); !errors.As(why, &kind) || result != nil {
				t.Fatalf("%s, %v", result, why)
			}
			return
		}
		if err != nil {
			t.Fatalf("it converts, and cannot be read: %v", err)
		}
		if again, err := stub.Convert(result); err != nil || !bytes.Equal(again, result) {
			t.Fatalf("%v became %s, and that %s, %v", version, result, again, err)
		}
	})
}
