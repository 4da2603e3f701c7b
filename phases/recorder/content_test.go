package recorder

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/machine"
)

func someEntries() []Entry {
	return []Entry{
		{At: noon, Kind: Transition, Revision: "r", Seconds: 1.5, Decision: &machine.Decision{
			At: noon, State: "Closed", Progressed: noon, Event: "Opened", To: "Open", Cause: "pushed",
			Answers: []machine.Asked{{Guard: "Pushed", Answer: machine.Yes, Why: "pushed"}},
		}},
		Acted(noon, "r", "ConfigMap a/b", "Created", ""),
	}
}

func TestRead_takes_a_file_in_every_form(t *testing.T) {
	packed, err := pack(someEntries())
	if err != nil {
		t.Fatal(err)
	}
	configMap, err := yaml.Marshal(corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		BinaryData: map[string][]byte{contentKey: packed},
	})
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := yaml.YAMLToJSON(configMap)
	if err != nil {
		t.Fatal(err)
	}
	lines := `{"at":"2026-01-01T12:00:00Z","kind":"transition","revision":"r","seconds":1.5,"decision":{"at":"2026-01-01T12:00:00Z",` +
		`"state":"Closed","progressed":"2026-01-01T12:00:00Z","event":"Opened","to":"Open","cause":"pushed",` +
		`"answers":[{"guard":"Pushed","answer":"Yes","why":"pushed"}]}}` + "\n" +
		`{"at":"2026-01-01T12:00:00Z","kind":"object","revision":"r","object":"ConfigMap a/b","action":"Created"}`
	for name, file := range map[string][]byte{"packed": packed, "yaml": configMap, "json": asJSON, "lines": []byte(lines)} {
		if got, err := Read(file); err != nil || !reflect.DeepEqual(got, someEntries()) {
			t.Errorf("%s: got %+v (%v)", name, got, err)
		}
	}
}

func TestRead_refuses_what_is_damaged_as_a_whole(t *testing.T) {
	packed, err := pack(someEntries())
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{
		"empty":                  "",
		"no entries":             "{}",
		"another kind":           "apiVersion: v1\nkind: Secret\n",
		"no content":             "apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n",
		"not base64":             "apiVersion: v1\nkind: ConfigMap\nbinaryData: {entries.jsonl.gz: '***'}\n",
		"cut off":                string(packed[:len(packed)-9]),
		"one byte changed":       string(packed[:len(packed)-6]) + "x" + string(packed[len(packed)-5:]),
		"a line without time":    `{"at":"2026-01-01T12:00:00Z","kind":"object"}` + "\n" + `{"kind":"object"}`,
		"an answer that is none": `{"at":"2026-01-01T12:00:00Z","kind":"error","decision":{"answers":[{"guard":"g","answer":"Maybe"}]}}`,
	} {
		if got, err := Read([]byte(file)); err == nil {
			t.Errorf("%s: read as %+v", name, got)
		}
	}
}

func TestRead_refuses_what_no_recorder_has_written(t *testing.T) {
	line := `{"at":"2026-01-01T00:00:00Z","kind":"a"}` + "\n"
	for name, lines := range map[string]string{
		"more than 8388608 bytes": strings.Repeat(" ", maxFile) + line,
		"more than 2048 entries":  strings.Repeat(line, 100_000),
	} {
		var packed bytes.Buffer
		zip := gzip.NewWriter(&packed)
		_, err := zip.Write([]byte(lines))
		if err := errors.Join(err, zip.Close()); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(packed.Bytes()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: read as %d entries (%v)", name, len(got), err)
		}
	}
	endless := io.MultiReader(bytes.NewReader(make([]byte, maxFile)), iotest.ErrReader(errors.New("read on")))
	if _, err := ReadFrom(io.MultiReader(strings.NewReader(" "), endless)); err == nil || !strings.Contains(err.Error(), "more than 8388608 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestPack_writes_no_more_than_is_read(t *testing.T) {
	var log []Entry
	for i := range maxEntries {
		log = append(log, Entry{At: noon, Kind: Object, Object: fmt.Sprint(i), Text: strings.Repeat("x", 20_000)})
	}
	packed, err := pack(log)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Read(packed); err != nil || len(got) == 0 || got[len(got)-1].Object != fmt.Sprint(maxEntries-1) {
		t.Errorf("%d entries are left (%v)", len(got), err)
	}
}

func TestPack_fits_into_an_object_whatever_it_is_given(t *testing.T) {
	var log []Entry
	for i := range maxEntries {
		noise := make([]byte, 1200)
		if _, err := rand.Read(noise); err != nil {
			t.Fatal(err)
		}
		log = append(log, Entry{At: noon, Kind: Object, Object: fmt.Sprint(i), Text: hex.EncodeToString(noise)})
	}
	packed, err := pack(log)
	if err != nil || len(packed) > maxPacked {
		t.Fatalf("%d bytes (%v)", len(packed), err)
	}
	got, err := Read(packed)
	if err != nil || len(got) == 0 || got[len(got)-1].Object != fmt.Sprint(maxEntries-1) {
		t.Errorf("%d entries are left (%v)", len(got), err)
	}
}
