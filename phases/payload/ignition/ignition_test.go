package ignition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const authority = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func drawContent(t *rapid.T) Content {
	var c Content
	for i := range rapid.IntRange(0, 6).Draw(t, "files") {
		c.Files = append(c.Files, File{
			Path: fmt.Sprintf("/etc/f%d", i),
			Mode: rapid.SampledFrom([]int{0o600, 0o644, 0o755}).Draw(t, "mode"),
			Data: rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "data"),
		})
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "units") {
		c.Units = append(c.Units, Unit{Name: fmt.Sprintf("u%d.service", i), Contents: "[Unit]\nDescription=x\n", Enabled: rapid.Bool().Draw(t, "on")})
	}
	c.SSHKeys = rapid.SliceOfNDistinct(rapid.StringMatching(`ssh-ed25519 [A-Za-z0-9]{8}`), 0, 3, rapid.ID).Draw(t, "keys")
	return c
}

func TestRender_gives_the_same_bytes_in_whatever_order_its_content_is(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawContent(t)
		first, err := Render(c)
		if err != nil {
			t.Fatal(err)
		}
		order := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		order.Shuffle(len(c.Files), func(i, j int) { c.Files[i], c.Files[j] = c.Files[j], c.Files[i] })
		order.Shuffle(len(c.Units), func(i, j int) { c.Units[i], c.Units[j] = c.Units[j], c.Units[i] })
		slices.Reverse(c.SSHKeys)
		second, err := Render(c)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%v\n%s\n%s", err, first, second)
		}
		if err := Check(first); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRender_refuses_what_Ignition_would_refuse(t *testing.T) {
	for name, c := range map[string]struct {
		content Content
		says    string
	}{
		"a relative path": {Content{Files: []File{{Path: "etc/x"}}}, "at storage.files[0].path"},
		"a file twice":    {Content{Files: []File{{Path: "/x"}, {Path: "/x"}}}, "storage.files[1]"},
		"a strange unit":  {Content{Units: []Unit{{Name: "a.what"}}}, "at systemd.units[0].name"},
		"too many bits":   {Content{Files: []File{{Path: "/x", Mode: 0o70000}}}, "at storage.files[0].mode"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Render(c.content)
			if refusal, is := errors.AsType[InvalidError](err); !is || !strings.Contains(refusal.Error(), c.says) || !refusal.Terminal() {
				t.Errorf("it says %v, want %q", err, c.says)
			}
		})
	}
}

func TestPointer_names_the_server_and_its_authority(t *testing.T) {
	config, err := Pointer("https://api-int.a.example.com:22623/config/master", []byte(authority))
	must(t, err)
	must(t, Check(config))
	at, err := PointsAt(config)
	must(t, err)
	if at.URL != "https://api-int.a.example.com:22623/config/master" || at.Hash != "" || !slices.Equal(at.Authorities, []string{inline([]byte(authority))}) {
		t.Errorf("it points at %+v", at)
	}
}

func TestStub_takes_no_other_bytes_than_those_it_was_made_for(t *testing.T) {
	full := []byte(`{"ignition":{"version":"3.2.0"}}`)
	config, err := Stub("https://store.example.com/a", full, nil)
	must(t, err)
	must(t, Check(config))
	at, err := PointsAt(config)
	must(t, err)
	if at.URL != "https://store.example.com/a" || len(at.Hash) != len("sha512-")+128 || at.Authorities != nil {
		t.Errorf("it points at %+v", at)
	}
	other, err := Stub("https://store.example.com/a", append(full, ' '), nil)
	must(t, err)
	if bytes.Equal(config, other) {
		t.Error("another config has the same stub")
	}
	if _, err := Stub("ftp://nobody:hunter2@store", full, nil); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("it says %v", err)
	}
	if _, err := PointsAt([]byte("{")); err == nil {
		t.Error("what is no JSON points somewhere")
	}
}

func TestMerge_has_overrides_win_and_keeps_what_they_do_not_name(t *testing.T) {
	base, err := Render(Content{Files: []File{{Path: "/a", Data: []byte("a")}, {Path: "/b", Data: []byte("b")}}})
	must(t, err)
	merged, err := Merge(base, []byte(`{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/b","contents":{"source":"data:,c"}}]}}`))
	must(t, err)
	var read struct {
		Ignition struct{ Version string }
		Storage  struct {
			Files []struct {
				Path     string
				Contents struct{ Source string }
			}
		}
	}
	must(t, json.Unmarshal(merged, &read))
	if read.Ignition.Version != Version || len(read.Storage.Files) != 2 || read.Storage.Files[1].Contents.Source != "data:,c" {
		t.Errorf("it has become %s", merged)
	}
	again, err := Merge(merged, []byte(`{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/b","contents":{"source":"data:,c"}}]}}`))
	if err != nil || !bytes.Equal(again, merged) {
		t.Errorf("once more it becomes %s (%v)", again, err)
	}
}

func TestMerge_refuses_without_quoting(t *testing.T) {
	base, err := Render(Content{})
	must(t, err)
	for name, c := range map[string]struct{ over, says string }{
		"nothing":          {"", "it is empty"},
		"no JSON":          {`{"ignition": hunter2}`, "Ignition refuses the config"},
		"a later spec":     {`{"ignition":{"version":"3.3.0"},"passwd":{"users":[{"name":"hunter2"}]}}`, "it is not of spec 3.0.0 to 3.2.0"},
		"spec 2":           {`{"ignition":{"version":"2.2.0"}}`, "it is not of spec 3.0.0 to 3.2.0"},
		"a bad source":     {`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/a","contents":{"source":"hunter2://x y"}}]}}`, "at storage.files[0].contents.source"},
		"a bad proxy":      {`{"ignition":{"version":"3.2.0","proxy":{"httpProxy":"ftp://u:hunter2@p"}}}`, "at ignition.proxy.httpProxy"},
		"a bad mode":       {`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/a","mode":"hunter2"}]}}`, "Ignition refuses the config"},
		"a bad unit":       {`{"ignition":{"version":"3.2.0"},"systemd":{"units":[{"name":"a.service","contents":"[hunter2"}]}}`, "Ignition refuses the config at systemd.units[0].contents"},
		"a bad hash":       {`{"ignition":{"version":"3.2.0","config":{"replace":{"source":"https://a","verification":{"hash":"hunter2"}}}}}`, "at ignition.config.replace.verification.hash"},
		"a version unread": {`{"ignition":{"version":"hunter2"}}`, "Ignition refuses the config"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Merge(base, []byte(c.over))
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("it says %v, want %q", err, c.says)
			}
		})
	}
	if _, err := Merge([]byte("x"), base); err == nil {
		t.Error("what is no config was merged into")
	}
}

func TestCheckOfMachineConfig_takes_later_specs_too(t *testing.T) {
	for _, version := range []string{"3.0.0", "3.2.0", "3.4.0", "3.5.0"} {
		must(t, CheckOfMachineConfig(fmt.Appendf(nil, `{"ignition":{"version":%q}}`, version)))
	}
	for _, version := range []string{"2.2.0", "3.6.0", "4.0.0"} {
		if err := CheckOfMachineConfig(fmt.Appendf(nil, `{"ignition":{"version":%q}}`, version)); err == nil {
			t.Errorf("spec %s is taken", version)
		}
	}
}

func TestFits_is_too_large_above_what_a_Secret_holds(t *testing.T) {
	must(t, Fits(make([]byte, MaxBytes)))
	large, is := errors.AsType[TooLargeError](Fits(make([]byte, MaxBytes+1)))
	if !is || large.Bytes != MaxBytes+1 || !large.Terminal() || !strings.Contains(large.Error(), "spec.ignition.delivery") {
		t.Errorf("it says %v", large)
	}
}
