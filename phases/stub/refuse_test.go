package stub_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/stub"
)

func TestReadTellsTheVersion(t *testing.T) {
	for text, want := range map[string]string{
		`{"ignition":{"version":"2.2.0"}}`:               "2.2.0",
		`{"ignition":{"version":"3.2.0"},"storage":{}}`:  "3.2.0",
		`{"ignition":{"version":"3.6.0-experimental"}}`:  "3.6.0",
		`{"ignition":{"version":"4.0.0"}}`:               "4.0.0",
		`{"passwd":null,"ignition":{"version":"2.4.0"}}`: "2.4.0",
	} {
		if got, err := stub.Read([]byte(text)); err != nil || got.String() != want || got.IsSpec3() != (want[0] == '3') {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func TestWhatIsNoIgnitionConfigIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "it is empty",
		" \n":                                "it is empty",
		"\x1f\x8b\x08" + secret:              "it is compressed with gzip",
		"#cloud-config\npassword: " + secret: "it is a cloud-config, and no Ignition config",
		"#!/bin/sh\n" + secret:               "it is a script, and no Ignition config",
		"<powershell>" + secret:              "it is no JSON object",
		`[{"ignition":{}}]`:                  "it is no JSON object",
		`{"a":"` + "\xff" + secret + `"}`:    "it is not UTF-8",
		`{"ignition":{"version":"2.2.0"}`:    "it is no JSON at byte",
		`{"ignition":{"version":"2.2.0"}} {"` + secret + `":1}`: "it is no JSON at byte",
		`{"ignition":{"` + secret + `":1}}`:                     "ignition.version: it is missing",
		`{"ignitionVersion":1}`:                                 "ignition.version: it is missing",
		`{"ignition":{"version":""}}`:                           "ignition.version: it is missing",
		`{"ignition":{"version":3}}`:                            "ignition.version: its value is of a wrong kind",
		`{"ignition":{"version":"` + secret + `"}}`:             "ignition.version: it is no version of three numbers",
		`{"ignition":{"version":"3"}}`:                          "ignition.version: it is no version of three numbers",
		`{"ignition":{"version":"v2.2.0"}}`:                     "ignition.version: it is no version of three numbers",
		`{"ignition":{"version":" 2.2.0"}}`:                     "ignition.version: it is no version of three numbers",
		`{"a":"` + strings.Repeat("x", 1<<20) + `"}`:            "it has 1048584 bytes, and a Secret has room for 1048576",
	} {
		if _, err := stub.Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%.80q: %v, want %s", text, err, want)
		}
		refusal(t, text)
	}
}

func TestVersionsThatAreNoReleasedOnesOfSpec2AreRefused(t *testing.T) {
	for _, version := range []string{"2.5.0-experimental", "2.5.0", "2.4.1", "2.2.0-dev", "2.2.0+x", "1.0.0", "0.1.0", "4.0.0"} {
		want := "user data: ignition.version: only 2.0.0 to 2.4.0 can be converted to 3.1.0"
		if got := refusal(t, `{"ignition":{"version":"`+version+`"}}`); got != want {
			t.Errorf("%s: %s", version, got)
		}
	}
}

const hunterFile = `{"filesystem":"root","path":"/hunter2","mode":420,"contents":{"source":"data:,hunter2"}}`

func TestARefusalSaysWhereAndWhyAndQuotesNothing(t *testing.T) {
	for parts, want := range map[string]string{
		`"networkd":{"units":[{"name":"hunter2.network"}]}`: "networkd.units: spec 3 has no such units",
		`"hunter2":1`: "it has a field twice, or one that spec 2 does not know",
		`"storage":{"files":[` + hunterFile + `,{"hunter2.x[0]":1,"filesystem":"root","path":"/b"}]}`: "storage.files[1]: it has a field twice, or one that spec 2 does not know",
		`"storage":{"files":{"hunter2":1}}`:                                                                                                          "storage.files: its value is of a wrong kind",
		`"storage":{"files":[{"mode":12345678901234567890}]}`:                                                                                        "storage.files.mode: its value is of a wrong kind",
		`"storage":{"files":[` + hunterFile + `,{"filesystem":"root","path":"hunter2"}]}`:                                                            "storage.files[1]: spec 2 refuses it: path not absolute",
		`"storage":{"files":[{"filesystem":"root","path":"/a","contents":{"source":"data:hunter2"}}]}`:                                               "storage.files[0].contents: spec 2 refuses it",
		`"storage":{"files":[{"filesystem":"root","path":"/a","contents":{"source":"data:,x","verification":{"hash":"hunter2"}}}]}`:                  "storage.files[0].contents.verification: spec 2 refuses it: malformed hash specifier",
		`"systemd":{"units":[{"name":"a.service"},{"name":"hunter2"}]}`:                                                                              "systemd.units[1]: spec 2 refuses it: invalid systemd unit extension",
		`"systemd":{"units":[{"name":"a.service","contents":"[hunter2"}]}`:                                                                           "systemd.units[0]: spec 2 refuses it",
		`"storage":{"files":[{"filesystem":"hunter2","path":"/a","mode":420}]}`:                                                                      "storage.files[0]: its file system is not one of this config, so its path is not known",
		`"storage":{"filesystems":[{"name":"hunter2","mount":{"device":"/dev/hunter2","format":"xfs"}}]}`:                                            "storage.filesystems[0]: no mount unit of this config mounts its device, so its path is not known",
		`"storage":{"filesystems":[{"name":"hunter2","path":"/hunter2"}]}`:                                                                           "storage.filesystems[0]: it is a path of the system that Ignition runs in, and spec 3 has no such file systems",
		`"storage":{"disks":[{"device":"/dev/a","partitions":[{"number":1},{"number":2,"size":2049}]}]}`:                                             "storage.disks[0].partitions[1]: spec 3 counts in MiB, and a size or start of it is no multiple of 2048 sectors",
		`"storage":{"disks":[{"device":"/dev/a","partitions":[{"guid":""}]}]}`:                                                                       "storage.disks.partitions: spec 3.1.0 refuses it: a partition number >= 1 or a label must be specified",
		`"storage":{"disks":[{"device":"/dev/a","partitions":[{"number":1,"label":"hunter2:"}]}]}`:                                                   "storage.disks.partitions.label: spec 3.1.0 refuses it: partition label will be truncated to text before the colon",
		`"storage":{"links":[{"filesystem":"root","path":"/hunter2","target":"/x"}],"files":[{"filesystem":"root","path":"/hunter2/a","mode":420}]}`: "storage.files: spec 3.1.0 refuses it: file path includes link in config",
		`"storage":{"files":[{"filesystem":"root","path":"/a","mode":420,"contents":{"source":"oem:///hunter2"}}]}`:                                  "storage.files.contents.source: spec 3.1.0 refuses it: invalid url scheme",
		`"storage":{"files":[{"filesystem":"root","path":"/a","contents":{"source":"https://a","httpHeaders":[{"name":"hunter2"}]}}]}`:               "storage.files[0].contents.httpHeaders: spec 3 has no header without a value",
	} {
		if got := refusal(t, spec2(parts)); got != "user data: "+want {
			t.Errorf("%s\n%s\nwant user data: %s", parts, got, want)
		}
	}
}

func TestUnitsThatMountNothingGiveNoPath(t *testing.T) {
	for name, units := range map[string]string{
		"another device":           unit("srv.mount", "/dev/other", "/srv"),
		"masked":                   `{"name":"srv.mount","mask":true,"contents":"[Mount]\nWhat=/dev/sdb\nWhere=/srv"}`,
		"the name of another path": unit("data.mount", "/dev/sdb", "/srv"),
		"a relative path":          unit("srv.mount", "/dev/sdb", "srv"),
		"a service":                unit("srv.service", "/dev/sdb", "/srv"),
		"replaced by the last":     unit("srv.mount", "/dev/sdb", "/srv") + "," + unit("srv.mount", "/dev/sdc", "/srv"),
	} {
		if got := refusal(t, spec2(`"systemd":{"units":[`+units+`]},"storage":{"filesystems":[{"name":"x","mount":{"device":"/dev/sdb","format":"xfs"}}]}`)); !strings.Contains(got, "no mount unit of this config mounts its device") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestOnePathOnTwoFileSystemsIsRefused(t *testing.T) {
	const want = "storage.files[1]: its path is on two file systems, and spec 3 has one for each path"
	if got := refusal(t, spec2(onVar+`,"files":[{"filesystem":"var","path":"/f","mode":420},{"filesystem":"root","path":"/var/f","mode":420}]}`)); got != "user data: "+want {
		t.Error(got)
	}
}

func TestFileSystemsThatSpec3HasNoPlaceForAreRefused(t *testing.T) {
	for list, want := range map[string]string{
		`{"name":"root","mount":{"device":"/dev/a","format":"xfs"}},{"name":"x","mount":{"device":"/dev/a","format":"xfs"}}`:                        "storage.filesystems[1]: its device is mounted at two paths",
		`{"name":"x","mount":{"device":"/dev/disk/by-label/l","format":"xfs"}},{"name":"y","mount":{"device":"/dev/b","label":"l","format":"xfs"}}`: "storage.filesystems[1]: another one is mounted at its path",
	} {
		units := unit("srv.mount", "/dev/a", "/srv") + "," + unit("opt.mount", "LABEL=l", "/opt")
		if got := refusal(t, spec2(`"systemd":{"units":[`+units+`]},"storage":{"filesystems":[`+list+`]}`)); got != "user data: "+want {
			t.Error(got)
		}
	}
}

func TestTheWorstThatABytesBoundAdmitsIsJudgedInTime(t *testing.T) {
	many := func(one string, n int) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	for name, text := range map[string]string{
		"nothing but objects": spec2(`"storage":{"files":[` + many("{}", 300_000) + `]}`),
		"deep lists":          spec2(`"storage":` + strings.Repeat("[", 500_000) + strings.Repeat("]", 500_000)),
		"deep spec 3":         `{"ignition":{"version":"3.1.0"},"a":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}`,
		"sources of one file": spec2(`"storage":{"files":[` + many(`{"filesystem":"root","path":"/a","append":true}`, 1_200) + `]}`),
		"links and files":     spec2(`"storage":{"files":[` + many(`{"filesystem":"root","path":"/a"}`, 1_000) + `],"links":[` + links(800) + `]}`),
		"a large value":       spec2(`"storage":{"files":[{"filesystem":"root","path":"/a","contents":{"source":"data:,` + strings.Repeat("%41", 300_000) + `"}}]}`),
		"commas in a value":   spec2(`"storage":{"files":[{"filesystem":"root","path":"/a","contents":{"source":"data:,` + strings.Repeat(",", 100_000) + `"}}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _ = stub.Convert([]byte(text))
			runtime.ReadMemStats(&after)
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 512 {
				t.Errorf("it took %d MiB", used)
			}
		})
	}
}

func links(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"filesystem":"root","path":"/l%d","target":"/"}`, i))
	}
	return strings.Join(all, ",")
}
