package stub_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/stub"
)

// onVar are a file system named var, its mount unit, and the beginning of what else is in storage.
const onVar = `"systemd":{"units":[{"name":"var.mount","enabled":true,"contents":"[Unit]\nBefore=local-fs.target\n[Mount]\nWhat=/dev/disk/by-partlabel/var\nWhere=/var\nType=xfs\n[Install]\nWantedBy=local-fs.target\n"}]},
	"storage":{"filesystems":[{"name":"var","mount":{"device":"/dev/disk/by-partlabel/var","format":"xfs","wipeFilesystem":true,"label":"var","options":["-m","reflink=1"]}}]`

// Case 37 of the boot image specification.
func TestAPartitionForVarIsKeptWithAllThatMakesIt(t *testing.T) {
	config := converted(t, `{"ignition":{"version":"2.2.0","config":{"append":[{"source":"https://api-int.example.com:22623/config/worker"}]},
		"security":{"tls":{"certificateAuthorities":[{"source":"data:text/plain;charset=utf-8;base64,LS0t"},{"source":"data:text/plain;charset=utf-8;base64,LS1="}]}},"timeouts":{"httpTotal":30}},`+
		onVar+`,"disks":[{"device":"/dev/nvme0n1","wipeTable":false,"partitions":[{"label":"var","number":0,"start":51200000,"size":204800000,"typeGuid":"4D21B016-B534-45C2-A9FB-5C16E091FD2D"}]}],
		"files":[{"filesystem":"var","path":"/lib/a","mode":420,"contents":{"source":"data:,a"}}]}}`)
	wantWritten(t, config.Ignition, `{"config":{"merge":[{"source":"https://api-int.example.com:22623/config/worker","verification":{}}],"replace":{"verification":{}}},"proxy":{},`+
		`"security":{"tls":{"certificateAuthorities":[{"source":"data:text/plain;charset=utf-8;base64,LS0t","verification":{}},{"source":"data:text/plain;charset=utf-8;base64,LS1=","verification":{}}]}},`+
		`"timeouts":{"httpTotal":30},"version":"3.1.0"}`)
	wantWritten(t, config.Storage.Disks, `[{"device":"/dev/nvme0n1","partitions":[{"label":"var","sizeMiB":100000,"startMiB":25000,"typeGuid":"4D21B016-B534-45C2-A9FB-5C16E091FD2D"}]}]`)
	wantWritten(t, config.Storage.Filesystems, `[{"device":"/dev/disk/by-partlabel/var","format":"xfs","label":"var","options":["-m","reflink=1"],"path":"/var","wipeFilesystem":true}]`)
	wantWritten(t, config.Storage.Files, `[{"group":{},"overwrite":true,"path":"/var/lib/a","user":{},"contents":{"source":"data:,a","verification":{}},"mode":420}]`)
	unit := config.Systemd.Units[0]
	if unit.Name != "var.mount" || !*unit.Enabled || !strings.Contains(*unit.Contents, "Where=/var\nType=xfs") {
		t.Error(written(t, unit))
	}
}

func TestSpec3IsLeftAlone(t *testing.T) {
	for _, text := range []string{`{"ignition":{"version":"3.0.0"}}`, ` {"ignition":{"version":"3.9.1-experimental"},"storage":{"x":[1]}} `} {
		if got, err := stub.Convert([]byte(text)); err != nil || string(got) != text {
			t.Errorf("%s became %s, %v", text, got, err)
		}
	}
}

func TestAFileSystemIsMountedWhereAUnitMountsItsDevice(t *testing.T) {
	for name, c := range map[string]struct{ units, mount, path string }{
		"by the same name":              {unit("srv-data.mount", "/dev/sdb1", "/srv/data"), `"device":"/dev/sdb1"`, "/srv/data"},
		"by a path with slashes":        {unit("srv-data.mount", "/dev//sdb1", "/srv/data/"), `"device":"/dev/sdb1"`, "/srv/data"},
		"by a name with dashes":         {unit(`srv-a\\x2db.mount`, "/dev/sdb1", "/srv/a-b"), `"device":"/dev/sdb1"`, "/srv/a-b"},
		"by the label of its partition": {unit("srv.mount", "PARTLABEL=data", "/srv"), `"device":"/dev/disk/by-partlabel/data"`, "/srv"},
		"by its own label":              {unit("srv.mount", "/dev/disk/by-label/data", "/srv"), `"device":"/dev/sdb1","label":"data"`, "/srv"},
		"by its own UUID":               {unit("srv.mount", "UUID=1-2", "/srv"), `"device":"/dev/sdb1","uuid":"1-2"`, "/srv"},
		"by a drop-in":                  {`{"name":"srv.mount","contents":"[Mount]\nWhere=/srv","dropins":[{"name":"b.conf","contents":"[Mount]\nWhat=/dev/sdb1"},{"name":"a.conf","contents":"[Mount]\nWhat=/dev/sdc1"}]}`, `"device":"/dev/sdb1"`, "/srv"},
		"by the last of two units":      {unit("srv.mount", "/dev/sdc1", "/srv") + "," + unit("srv.mount", "/dev/sdb1", "/srv"), `"device":"/dev/sdb1"`, "/srv"},
		"by the first of two paths":     {unit("srv.mount", "/dev/sdb1", "/srv") + "," + unit("opt.mount", "/dev/sdb1", "/opt"), `"device":"/dev/sdb1"`, "/opt"},
	} {
		t.Run(name, func(t *testing.T) {
			got := converted(t, spec2(`"systemd":{"units":[`+c.units+`]},"storage":{"filesystems":[{"name":"x","mount":{"format":"ext4",`+c.mount+`}}],"directories":[{"filesystem":"x","path":"/","mode":493}]}`))
			if path := *got.Storage.Filesystems[0].Path; path != c.path || got.Storage.Directories[0].Path != c.path {
				t.Errorf("it is mounted at %s", path)
			}
		})
	}
}

func unit(name, what, where string) string {
	return `{"name":"` + name + `","contents":"[Mount]\nWhat=` + what + `\nWhere=` + where + `\n"}`
}

func TestAFileSystemWithoutNameIsOnlyMade(t *testing.T) {
	got := converted(t, spec2(`"storage":{"filesystems":[{"mount":{"device":"/dev/sdb","format":"swap"}},{"mount":{"device":"/dev/sdc","format":"xfs"}}]}`))
	wantWritten(t, got.Storage.Filesystems, `[{"device":"/dev/sdb","format":"swap"},{"device":"/dev/sdc","format":"xfs"}]`)
}

func TestOfFileSystemsTheLastOfADeviceAndTheLastOfANameCount(t *testing.T) {
	got := converted(t, spec2(`"systemd":{"units":[`+unit("srv.mount", "/dev/sdb", "/srv")+`,`+unit("opt.mount", "/dev/sdc", "/opt")+`]},"storage":{"filesystems":[
		{"name":"x","mount":{"device":"/dev/sdb","format":"ext4"}},{"name":"y","mount":{"device":"/dev/sdb","format":"xfs"}},{"name":"x","mount":{"device":"/dev/sdc","format":"ext4"}}],
		"files":[{"filesystem":"x","path":"/f","mode":420},{"filesystem":"y","path":"/f","mode":420}]}`))
	wantWritten(t, got.Storage.Filesystems, `[{"device":"/dev/sdb","format":"xfs","path":"/srv"},{"device":"/dev/sdc","format":"ext4","path":"/opt"}]`)
	if files := got.Storage.Files; files[0].Path != "/opt/f" || files[1].Path != "/srv/f" {
		t.Error(written(t, files))
	}
}

func TestOfUnitsOfOneNameAllThatIsWrittenStays(t *testing.T) {
	got := converted(t, spec2(`"systemd":{"units":[{"name":"a.service","contents":"[Unit]\nA=1","enable":true,"mask":true,"dropins":[{"name":"1.conf","contents":"[Unit]"},{"name":"2.conf","contents":"[Unit]\nB=1"}]},
		{"name":"a.service","dropins":[{"name":"2.conf","contents":"[Unit]\nB=2"},{"name":"1.conf"},{"name":"3.conf","contents":"[Unit]"}]}]}`))
	wantWritten(t, got.Systemd.Units, `[{"contents":"[Unit]\nA=1","dropins":[{"contents":"[Unit]","name":"1.conf"},{"contents":"[Unit]\nB=2","name":"2.conf"},{"contents":"[Unit]","name":"3.conf"}],"enabled":true,"mask":true,"name":"a.service"}]`)
	got = converted(t, spec2(`"systemd":{"units":[{"name":"a.service","mask":true},{"name":"a.service","contents":"[Unit]\nA=1","enabled":false}]}`))
	wantWritten(t, got.Systemd.Units, `[{"contents":"[Unit]\nA=1","enabled":false,"name":"a.service"}]`)
}

func TestOfNodesOfOnePathTheOneThatIsWrittenLastStays(t *testing.T) {
	node := `{"filesystem":"root","mode":420,"path":`
	got := converted(t, spec2(`"systemd":{"units":[{"name":"a.service","contents":"[Unit]"}]},"storage":{"links":[{"filesystem":"root","path":"/l","target":"/t","overwrite":true}],
		"files":[`+node+`"/l"},`+node+`"/d"},`+node+`"/etc/systemd/system/a.service"}],"directories":[`+node+`"/d"},`+node+`"/l"},`+node+`"/only/"}]}`)).Storage
	if len(got.Links) != 1 || len(got.Files) != 1 || got.Files[0].Path != "/d" || len(got.Directories) != 1 || got.Directories[0].Path != "/only" {
		t.Error(written(t, got))
	}
}

func TestATableThatIsWipedOnceMoreHasOnlyTheLaterPartitions(t *testing.T) {
	got := converted(t, spec2(`"storage":{"disks":[{"device":"/dev/sda","partitions":[{"number":1}]},{"device":"/dev/sda","wipeTable":true,"partitions":[{"number":2}]}]}`))
	wantWritten(t, got.Storage.Disks, `[{"device":"/dev/sda","partitions":[{"number":2}],"wipeTable":true}]`)
}

func TestFieldsOfYoungerVersionsAreTakenAtTheirWord(t *testing.T) {
	got := converted(t, `{"ignition":{"version":"2.2.0","proxy":{"httpProxy":"http://p","httpsProxy":"https://p","noProxy":["a","b"]},"config":{"replace":{"source":"https://a","httpHeaders":[{"name":"A","value":"b"}]}}},
		"storage":{"disks":[{"device":"/dev/sda","partitions":[{"number":1,"sizeMiB":5,"startMiB":1,"wipePartitionEntry":true,"shouldExist":true}]}]}}`)
	wantWritten(t, got.Ignition.Proxy, `{"httpProxy":"http://p","httpsProxy":"https://p","noProxy":["a","b"]}`)
	wantWritten(t, got.Ignition.Config.Replace, `{"httpHeaders":[{"name":"A","value":"b"}],"source":"https://a","verification":{}}`)
	wantWritten(t, got.Storage.Disks[0].Partitions, `[{"number":1,"shouldExist":true,"sizeMiB":5,"startMiB":1,"wipePartitionEntry":true}]`)
}

func TestWhatIsWrittenIsNotLargerThanItHasToBe(t *testing.T) {
	text, err := stub.Convert([]byte(spec2(`"systemd":{"units":[{"name":"a.service","contents":"[Service]\nExecStart=/bin/sh -c 'a && b <c >d'\n"}]}`)))
	if err != nil || !bytes.Contains(text, []byte(`a && b <c >d`)) || bytes.HasSuffix(text, []byte("\n")) {
		t.Errorf("%s, %v", text, err)
	}
}
