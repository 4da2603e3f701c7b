package stub_test

import (
	"strings"
	"testing"

	"github.com/coreos/ign-converter/translate/v31tov24"
)

// Each test shows first what the library does alone, and then that nothing of it is left.

// Its variable of a loop is one for all rounds, so that it refuses what it has made of them.
func TestTheLibraryMakesAllSourcesOfAListTheLast(t *testing.T) {
	config := `{"ignition":{"version":"2.2.0","config":{"append":[{"source":"https://a/1","verification":{"hash":"` + hash('1') + `"}},{"source":"https://b/2"}]},
		"security":{"tls":{"certificateAuthorities":[{"source":"data:,one"},{"source":"data:,two","verification":{"hash":"` + hash('2') + `"}},{"source":"data:,three"}]}}}}`
	if _, err := alone(t, config, nil); err == nil || !strings.Contains(err.Error(), "merge.1: duplicate entry") || !strings.Contains(err.Error(), "certificateAuthorities.2: duplicate entry") {
		t.Errorf("the library keeps sources apart now: %v", err)
	}
	mended := converted(t, config).Ignition
	wantWritten(t, mended.Security.TLS.CertificateAuthorities,
		`[{"source":"data:,one","verification":{}},{"source":"data:,two","verification":{"hash":"`+hash('2')+`"}},{"source":"data:,three","verification":{}}]`)
	wantWritten(t, mended.Config.Merge,
		`[{"source":"https://a/1","verification":{"hash":"`+hash('1')+`"}},{"source":"https://b/2","verification":{}}]`)
}

func TestTheLibraryLosesWhatIsBelowCreate(t *testing.T) {
	config := spec2(`"passwd":{"users":[{"name":"core","passwordHash":"x","create":{"uid":1500,"gecos":"Core","homeDir":"/home/core","noCreateHome":true,"noLogInit":true,
		"noUserGroup":true,"primaryGroup":"wheel","groups":["docker","sudo"],"shell":"/bin/sh","system":true}}]},
		"storage":{"filesystems":[{"name":"root","mount":{"device":"/dev/sda4","format":"xfs","create":{"force":true,"options":["-n","x"]}}}]}`)
	alone, err := alone(t, config, nil)
	if err != nil {
		t.Fatal(err)
	}
	if alone.Passwd.Users[0].UID != nil || len(alone.Storage.Filesystems) != 0 {
		t.Error("the library keeps what is below create, and root, now")
	}
	mended := converted(t, config)
	wantWritten(t, mended.Passwd.Users, `[{"gecos":"Core","groups":["docker","sudo"],"homeDir":"/home/core","name":"core","noCreateHome":true,"noLogInit":true,"noUserGroup":true,`+
		`"passwordHash":"x","primaryGroup":"wheel","shell":"/bin/sh","system":true,"uid":1500}]`)
	wantWritten(t, mended.Storage.Filesystems, `[{"device":"/dev/sda4","format":"xfs","options":["-n","x"],"path":"/","wipeFilesystem":true}]`)
}

// Until 2.3 a config has no other way to say how large a partition is.
func TestTheLibraryRefusesSizesInSectors(t *testing.T) {
	config := spec2(`"storage":{"disks":[{"device":"/dev/sda","partitions":[{"label":"var","number":5,"start":20971520,"size":104857600},{"label":"rest","size":0}]}]}`)
	if _, err := alone(t, config, nil); err == nil {
		t.Error("the library takes sectors now")
	}
	wantWritten(t, converted(t, config).Storage.Disks,
		`[{"device":"/dev/sda","partitions":[{"label":"var","number":5,"sizeMiB":51200,"startMiB":10240},{"label":"rest","sizeMiB":0}]}]`)
}

func TestTheLibraryRefusesDuplicates(t *testing.T) {
	for name, c := range map[string]struct{ parts, want string }{
		"files":       {`"storage":{"files":[{"filesystem":"root","path":"/a","mode":1,"contents":{"source":"data:,1"}},{"filesystem":"root","path":"/a","mode":2,"contents":{"source":"data:,2"}}]}`, `"files":[{"group":{},"overwrite":true,"path":"/a","user":{},"contents":{"source":"data:,2","verification":{}},"mode":2}]`},
		"directories": {`"storage":{"directories":[{"filesystem":"root","path":"/a","mode":1},{"filesystem":"root","path":"/a","mode":2}]}`, `"directories":[{"group":{},"path":"/a","user":{},"mode":2}]`},
		"links":       {`"storage":{"links":[{"filesystem":"root","path":"/a","target":"/1"},{"filesystem":"root","path":"/a","target":"/2"}]}`, `"links":[{"group":{},"path":"/a","user":{},"target":"/2"}]`},
		"units":       {`"systemd":{"units":[{"name":"a.service","contents":"[Unit]\nA=1"},{"name":"a.service","contents":"[Unit]\nA=2"}]}`, `"units":[{"contents":"[Unit]\nA=2","name":"a.service"}]`},
		"drop-ins":    {`"systemd":{"units":[{"name":"a.service","dropins":[{"name":"a.conf","contents":"[Unit]\nA=1"},{"name":"a.conf","contents":"[Unit]\nA=2"}]}]}`, `"dropins":[{"contents":"[Unit]\nA=2","name":"a.conf"}]`},
		"users":       {`"passwd":{"users":[{"name":"core","sshAuthorizedKeys":["a"]},{"name":"core","sshAuthorizedKeys":["b","c"]}]}`, `"users":[{"name":"core","sshAuthorizedKeys":["b","c"]}]`},
		"groups":      {`"passwd":{"groups":[{"name":"g","gid":1},{"name":"g","gid":2}]}`, `"groups":[{"gid":2,"name":"g"}]`},
		"keys":        {`"passwd":{"users":[{"name":"core","sshAuthorizedKeys":["a","b","a"]}]}`, `"sshAuthorizedKeys":["b","a"]`},
		"disks":       {`"storage":{"disks":[{"device":"/dev/sda","partitions":[{"number":1}]},{"device":"/dev/sda","partitions":[{"number":2},{"number":1,"label":"x"}]}]}`, `"disks":[{"device":"/dev/sda","partitions":[{"number":2},{"label":"x","number":1}]}]`},
		"arrays":      {`"storage":{"raid":[{"name":"r","level":"raid1","devices":["/dev/a"]},{"name":"r","level":"raid0","devices":["/dev/b"]}]}`, `"raid":[{"devices":["/dev/b"],"level":"raid0","name":"r"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := alone(t, spec2(c.parts), nil); err == nil {
				t.Error("the library takes them now")
			}
			if got := written(t, converted(t, spec2(c.parts))); !strings.Contains(got, c.want) {
				t.Errorf("%s\nlacks %s", got, c.want)
			}
		})
	}
}

func TestTheLibraryKnowsOneSourceOfAFile(t *testing.T) {
	config := spec2(`"storage":{"files":[{"filesystem":"root","path":"/a","mode":384,"contents":{"source":"data:,1"}},{"filesystem":"root","path":"/a","append":true,"contents":{"source":"data:,2"}},
		{"filesystem":"root","path":"/a","append":true,"group":{"name":"g"},"contents":{"source":"data:,3","compression":"gzip","verification":{"hash":"` + hash('3') + `"}}},
		{"filesystem":"root","path":"/b","append":true,"contents":{"source":"data:,4"}}]}`)
	if _, err := alone(t, config, nil); err == nil {
		t.Error("the library takes several sources now")
	}
	wantWritten(t, converted(t, config).Storage.Files, `[{"group":{"name":"g"},"overwrite":true,"path":"/a","user":{},"append":[{"source":"data:,2","verification":{}},`+
		`{"compression":"gzip","source":"data:,3","verification":{"hash":"`+hash('3')+`"}}],"contents":{"source":"data:,1","verification":{}},"mode":384},`+
		`{"group":{},"overwrite":false,"path":"/b","user":{},"append":[{"source":"data:,4","verification":{}}],"contents":{"verification":{}}}]`)
}

func TestTheLibraryTakesALinkForOneOfALongerName(t *testing.T) {
	config := spec2(`"storage":{"links":[{"filesystem":"root","path":"/etc/a","target":"/x"},{"filesystem":"root","path":"/etc/ab","target":"/y"}],
		"files":[{"filesystem":"root","path":"/etc/abc","mode":420,"contents":{"source":"data:,1"}}]}`)
	if _, err := alone(t, config, nil); err == nil {
		t.Error("the library compares whole names now")
	}
	if storage := converted(t, config).Storage; len(storage.Links) != 2 || len(storage.Files) != 1 {
		t.Error(written(t, storage))
	}
}

// A file that Ignition 0.x lets nobody read is one that 2.x lets everybody read, if neither is told.
func TestTheLibraryLeavesTheModeToSpec3(t *testing.T) {
	config := spec2(`"storage":{"files":[{"filesystem":"root","path":"/a","contents":{"source":"data:,1"}}],"directories":[{"filesystem":"root","path":"/d"}]}`)
	alone, err := alone(t, config, nil)
	if err != nil {
		t.Fatal(err)
	}
	if alone.Storage.Files[0].Mode != nil || alone.Storage.Directories[0].Mode != nil {
		t.Error("the library tells modes now")
	}
	if storage := converted(t, config).Storage; *storage.Files[0].Mode != 0 || *storage.Directories[0].Mode != 0 {
		t.Error(written(t, storage))
	}
}

// A hard link's target is a path of the link's file system in spec 2, and of root in spec 3.
func TestTheLibraryLeavesTargetsOfHardLinks(t *testing.T) {
	config := spec2(onVar + `,"links":[{"filesystem":"var","path":"/l","target":"/f","hard":true},{"filesystem":"var","path":"/s","target":"/f"}]}`)
	alone, err := alone(t, config, map[string]string{"var": "/var"})
	if err != nil {
		t.Fatal(err)
	}
	if alone.Storage.Links[0].Target != "/f" {
		t.Error("the library brings targets along now")
	}
	if links := converted(t, config).Storage.Links; links[0].Target != "/var/f" || links[1].Target != "/f" || links[0].Path != "/var/l" {
		t.Error(written(t, links))
	}
}

func TestTheLibrarysWayBackPanicsOnPartitions(t *testing.T) {
	config := converted(t, spec2(`"storage":{"disks":[{"device":"/dev/sda","partitions":[{"number":1}]}]}`))
	defer func() {
		if recover() == nil {
			t.Error("the library's way back takes partitions now")
		}
	}()
	_, _ = v31tov24.Translate(config)
}

func hash(digit byte) string { return "sha512-" + strings.Repeat(string(digit), 128) }
