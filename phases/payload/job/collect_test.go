package job

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/ignition"
)

func written(t testing.TB) fstest.MapFS {
	t.Helper()
	work := fstest.MapFS{}
	for _, name := range []string{"bootstrap", "master", "worker"} {
		config, err := ignition.Render(ignition.Content{Files: []ignition.File{{Path: "/" + name, Data: []byte("hunter2")}}})
		must(t, err)
		work[name+".ign"] = &fstest.MapFile{Data: config}
	}
	return work
}

func TestCollect_packs_what_the_installer_has_written_and_Unpack_gets_it_back(t *testing.T) {
	found, err := Collect(written(t))
	must(t, err)
	data, err := Pack(found)
	must(t, err)
	again, err := Pack(found)
	must(t, err)
	if !reflect.DeepEqual(data, again) || len(data) != 3 {
		t.Errorf("it packs %d configs, and others again", len(data))
	}
	back, err := Unpack(data)
	must(t, err)
	if !reflect.DeepEqual(found, back) || !bytes.Contains(back.Master, []byte("/master")) {
		t.Errorf("it gets back %s", back.Master)
	}
}

func TestCollect_refuses_what_no_machine_could_be_started_with(t *testing.T) {
	for name, c := range map[string]struct {
		change func(fstest.MapFS)
		says   string
	}{
		"missing":   {func(w fstest.MapFS) { delete(w, "worker.ign") }, "reading worker.ign: the installer has not written it"},
		"torn":      {func(w fstest.MapFS) { w["master.ign"].Data = w["master.ign"].Data[:60] }, "reading master.ign, which the installer has written: Ignition refuses"},
		"too large": {func(w fstest.MapFS) { w["bootstrap.ign"].Data = make([]byte, configMost+1) }, "it has more than the 16777216 bytes allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			work := written(t)
			c.change(work)
			_, err := Collect(work)
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("it says %v, want %q", err, c.says)
			}
		})
	}
}

func TestPack_is_too_large_for_what_no_Secret_holds(t *testing.T) {
	noise := make([]byte, 2<<20)
	_, err := rand.Read(noise)
	must(t, err)
	_, err = Pack(payload.Payload{Bootstrap: []byte(base64.StdEncoding.EncodeToString(noise))})
	if _, is := errors.AsType[ignition.TooLargeError](err); !is {
		t.Errorf("it says %v", err)
	}
}

func TestUnpack_trusts_nothing_that_a_Secret_holds(t *testing.T) {
	right, err := Collect(written(t))
	must(t, err)
	for name, c := range map[string]struct {
		change func(t *testing.T, data map[string][]byte)
		says   string
	}{
		"missing":        {func(_ *testing.T, d map[string][]byte) { delete(d, "master.ign.gz") }, "master.ign.gz of what the installer has made: it is not there"},
		"not compressed": {func(_ *testing.T, d map[string][]byte) { d["master.ign.gz"] = []byte("hunter2") }, "it is not there or not compressed"},
		"torn":           {func(_ *testing.T, d map[string][]byte) { d["master.ign.gz"] = d["master.ign.gz"][:40] }, "it is torn or larger"},
		"a bomb": {func(t *testing.T, d map[string][]byte) {
			bomb, err := Pack(payload.Payload{Master: make([]byte, 2*configMost)})
			must(t, err)
			d["master.ign.gz"] = bomb["master.ign.gz"]
		}, "larger than the 16777216 bytes allowed"},
		"no config": {func(t *testing.T, d map[string][]byte) {
			other, err := Pack(payload.Payload{Master: []byte("hunter2")})
			must(t, err)
			d["master.ign.gz"] = other["master.ign.gz"]
		}, "Ignition refuses the config"},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := Pack(right)
			must(t, err)
			c.change(t, data)
			_, err = Unpack(data)
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("it says %v, want %q", err, c.says)
			}
		})
	}
}
