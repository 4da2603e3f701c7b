package stub

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	old "github.com/coreos/ignition/config/v2_4/types"
)

const whole = `{"ignition":{"version":"2.2.0","timeouts":{"httpTotal":1},"config":{"append":[{"source":"https://a"},{"source":"https://b"}]}},
	"passwd":{"users":[{"name":"core"}],"groups":[{"name":"g"}]},"systemd":{"units":[{"name":"a.service"}]},
	"storage":{"disks":[{"device":"/dev/a","partitions":[{"number":1}]}],"raid":[{"name":"r","level":"raid1","devices":["/dev/a"]}],
	"filesystems":[{"name":"root","mount":{"device":"/dev/b","format":"xfs"}}],"files":[{"filesystem":"root","path":"/f"}],
	"directories":[{"filesystem":"root","path":"/d"}],"links":[{"filesystem":"root","path":"/l","target":"/t"}]}}`

// TestTheProofFindsWhatIsLost takes each thing out of what a config converts to, one after the other.
func TestTheProofFindsWhatIsLost(t *testing.T) {
	text, err := Convert([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	var config old.Config
	if err := json.Unmarshal([]byte(whole), &config); err != nil {
		t.Fatal(err)
	}
	once, err := plainly(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := prove(once, text); err != nil {
		t.Error(err)
	}
	for at, takeOut := range map[string][2]string{
		"ignition":            {`{"source":"https://a","verification":{}},`, ""},
		"passwd.users":        {`"users":[{"name":"core"}]`, `"users":[]`},
		"passwd.groups":       {`"groups":[{"name":"g"}]`, `"groups":[{"name":"h"}]`},
		"systemd.units":       {`{"name":"a.service"}`, `{"name":"a.service","mask":true}`},
		"storage.disks":       {`{"number":1}`, ""},
		"storage.raid":        {`"level":"raid1"`, `"level":"raid4"`},
		"storage.filesystems": {`"path":"/"`, `"path":"/b"`},
		"storage.files":       {`"/f"`, `"/g"`},
		"storage.directories": {`"/d"`, `"/e"`},
		"storage.links":       {`"/t"`, `"/u"`},
	} {
		less := strings.Replace(string(text), takeOut[0], takeOut[1], 1)
		if less == string(text) {
			t.Fatalf("%s does not have %s", text, takeOut[0])
		}
		want := fmt.Sprintf("user data: %s: something of it would be lost", at)
		if err := prove(once, []byte(less)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, broken := range []string{"", `{"ignition":{"version":"3.1.0"},"more":1}`, `{"ignition":{"version":"3.2.0"}}`} {
		if prove(once, []byte(broken)) == nil {
			t.Errorf("%q proves it", broken)
		}
	}
}

func TestAPanicOfALibraryIsAnErrorThatQuotesNothing(t *testing.T) {
	text, err := guarded(func(userData []byte) ([]byte, error) { panic(string(userData)) }, []byte("hunter2"))
	if text != nil || err == nil || err.Error() != "user data: the converter cannot cope with it" {
		t.Errorf("%s, %v", text, err)
	}
}
