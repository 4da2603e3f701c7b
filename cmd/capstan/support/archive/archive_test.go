package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func packed(t testing.TB, b *Builder) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := b.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func some() *Builder {
	b := NewBuilder(noon, "v1")
	b.Add("b/two.json", []byte("2"))
	b.AddCut("a.json", []byte("one"), "the rest is\nelsewhere")
	b.Miss("c.json", "not allowed", "list pods in namespace x")
	return b
}

func TestWrite_gives_the_same_bytes_whatever_the_order_and_Read_gives_back_the_parts(t *testing.T) {
	first := packed(t, some())
	if !bytes.Equal(first, packed(t, some())) {
		t.Error("the bytes differ")
	}
	read, err := Read(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if read.Index.At != noon || read.Index.Capstan != "v1" || len(read.Index.Parts) != 3 {
		t.Errorf("the index is read as %+v", read.Index)
	}
	for name, want := range map[string]string{
		"b/two.json": "whole 2 ", "a.json": "cut one the rest is elsewhere", "c.json": "missing  not allowed list pods in namespace x",
	} {
		e, content, found := read.Of(name)
		if got := strings.TrimRight(fmt.Sprintf("%s %s %s %s", e.State, content, e.Why, e.Right), " "); !found || got != strings.TrimRight(want, " ") {
			t.Errorf("%s is read as %q", name, got)
		}
	}
	if _, _, found := read.Of("d"); found {
		t.Error("there is a part that nobody has added")
	}
}

func TestCreate_makes_a_file_for_its_owner_alone_and_overwrites_nothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "made.tar.gz")
	if err := some().Create(name); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode() != 0o600 {
		t.Errorf("it is %v (%v)", info.Mode(), err)
	}
	if _, err := Open(name); err != nil {
		t.Error(err)
	}
	link := filepath.Join(filepath.Dir(name), "link")
	if err := os.Symlink(filepath.Join(filepath.Dir(name), "elsewhere"), link); err != nil {
		t.Fatal(err)
	}
	for _, taken := range []string{name, link, filepath.Dir(name)} {
		if err := NewBuilder(noon, "v2").Create(taken); err == nil {
			t.Errorf("%s was overwritten", taken)
		}
	}
	if read, err := Open(name); err != nil || read.Index.Capstan != "v1" {
		t.Errorf("what was there is changed (%v)", err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(name), "elsewhere")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a link was followed")
	}
}

func TestOpen_reads_no_pipe_and_no_device(t *testing.T) {
	for _, name := range []string{"/dev/zero", t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := Open(name); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

func TestBuilder_stays_within_its_room_and_tells_what_is_cut(t *testing.T) {
	noise := make([]byte, 20<<20)
	random := rand.NewChaCha8([32]byte{})
	for i := range noise {
		noise[i] = byte(random.Uint64())
	}
	b := NewBuilder(noon, "v1")
	b.Add("first", noise)
	b.Add("second", noise)
	b.AddText("third", bytes.Repeat([]byte("a line\n"), 3<<20), "")
	b.AddText("fourth", bytes.Repeat([]byte("a line\n"), 3<<20), "")
	b.AddText("fifth", []byte("x"), "")
	if out := packed(t, b); len(out) > MaxFile {
		t.Errorf("it has %d bytes", len(out))
	} else if _, err := Read(bytes.NewReader(out)); err != nil {
		t.Error(err)
	}
	var states []string
	for _, e := range b.Index().Parts {
		states = append(states, string(e.State))
	}
	if got := strings.Join(states, " "); got != "whole missing cut missing missing" {
		t.Errorf("the parts are %s", got)
	}
}

func TestLast_begins_with_a_whole_line(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{{"one\ntwo\n", 8, "one\ntwo\n"}, {"one\ntwo\n", 7, "two\n"}, {"one\ntwo\n", 5, "two\n"}, {"one\ntwo\n", 4, "two\n"}, {"one\ntwo\n", 3, ""}, {"onetwo", 3, "two"}} {
		if got := string(Last([]byte(c.text), c.most)); got != c.want {
			t.Errorf("the last %d bytes of %q are %q", c.most, c.text, got)
		}
	}
}

// forged packs what no Builder writes.
func forged(t testing.TB, headers ...*tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	files := tar.NewWriter(zip)
	for _, h := range headers {
		if err := files.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Write(bytes.Repeat([]byte(" "), int(h.Size))); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(files.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// indexed packs files beside an index as it stands.
func indexed(t testing.TB, index string, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	w := tar.NewWriter(zip)
	write := func(name, text string) {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(text)), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	write(indexName, index)
	for name, text := range files {
		write(name, text)
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func hostile(t testing.TB) map[string][]byte {
	t.Helper()
	whole := packed(t, some())
	regular := func(name string) *tar.Header { return &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600} }
	crowd := make([]*tar.Header, 0, MaxEntries+1)
	for i := range MaxEntries + 1 {
		crowd = append(crowd, regular(fmt.Sprint(i)))
	}
	empty := digest(nil)
	return map[string][]byte{
		"it is not packed with gzip":     []byte("nonsense"),
		"cannot be read":                 whole[:len(whole)/2],
		"unexpected EOF":                 whole[:len(whole)-3],
		`"a" is no plain file`:           forged(t, &tar.Header{Typeflag: tar.TypeSymlink, Name: "a", Linkname: "/etc/passwd"}),
		`"b" is no plain file`:           forged(t, &tar.Header{Typeflag: tar.TypeLink, Name: "b", Linkname: "a"}),
		`"c/" is no plain file`:          forged(t, &tar.Header{Typeflag: tar.TypeDir, Name: "c/"}),
		`"d" is no plain file`:           forged(t, &tar.Header{Typeflag: tar.TypeFifo, Name: "d"}),
		`"e" is no plain file`:           forged(t, &tar.Header{Typeflag: tar.TypeChar, Name: "e"}),
		`"f" is no plain file`:           forged(t, &tar.Header{Typeflag: tar.TypeReg, Name: "f", PAXRecords: map[string]string{"CAPSTAN.x": "y"}}),
		`"../g" is no name`:              forged(t, regular("../g")),
		`"h/../../i" is no name`:         forged(t, regular("h/../../i")),
		`"/etc/passwd" is no name`:       forged(t, regular("/etc/passwd")),
		`"j\\k" is no name`:              forged(t, regular(`j\k`)),
		`"C:l" is no name`:               forged(t, regular("C:l")),
		`"�[2Jm" is no name`:             forged(t, regular("\x1b[2Jm")),
		`"index.json" is there twice`:    forged(t, regular(indexName), regular(indexName)),
		"it has no index.json":           forged(t, regular("n")),
		"it has more than 10000 entries": forged(t, crowd...),
		"something follows its end":      trailing(t),
		"format 2":                       indexed(t, `{"format":2}`, nil),
		"no list of parts":               indexed(t, `{"format":1}`, nil),
		"no name of a part, or of it":    indexed(t, `{"format":1,"parts":[{"name":"x","state":"missing"},{"name":"x","state":"missing"}]}`, nil),
		`part "o" is "half"`:             indexed(t, `{"format":1,"parts":[{"name":"o","state":"half"}]}`, nil),
		`part "p" is whole, and it`:      indexed(t, `{"format":1,"parts":[{"name":"p","state":"whole"}]}`, nil),
		`part "q" is missing, and it`:    indexed(t, `{"format":1,"parts":[{"name":"q","state":"missing"}]}`, map[string]string{"q": ""}),
		"it was changed":                 indexed(t, `{"format":1,"parts":[{"name":"r","state":"whole","bytes":1,"sha256":"`+empty+`"}]}`, map[string]string{"r": "x"}),
		"does not tell of":               indexed(t, `{"format":1,"parts":[]}`, map[string]string{"s": ""}),
		"tells of more than 10000 parts": indexed(t, `{"format":1,"parts":[`+strings.Repeat("null,", MaxEntries)+"null]}", nil),
	}
}

// bomb is small, and unpacks to more than anybody has room for: zeros after what it begins with.
func bomb(t testing.TB, begins string) []byte {
	t.Helper()
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(zip, begins); err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range MaxRead>>20 + 1 {
		if _, err := zip.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// header is that of a file in a tar file.
func header(t testing.TB, name string, size int64) string {
	t.Helper()
	var out bytes.Buffer
	if err := tar.NewWriter(&out).WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestRead_refuses_bombs_before_they_take_room(t *testing.T) {
	for why, file := range map[string][]byte{
		"more than 134217728 bytes unpacked": bomb(t, ""),
		`"a" cannot be read`:                 bomb(t, header(t, "a", MaxRead)),
		`"b" has 134217729 bytes`:            bomb(t, header(t, "b", MaxRead+1)),
	} {
		if _, err := Read(bytes.NewReader(file)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: got %v", why, err)
		}
	}
}

func trailing(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if err := tar.NewWriter(zip).Close(); err != nil {
		t.Fatal(err)
	}
	_, err := io.WriteString(zip, "more")
	if err := errors.Join(err, zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestRead_refuses_what_no_Builder_writes_as_a_whole(t *testing.T) {
	for why, file := range hostile(t) {
		read, err := Read(bytes.NewReader(file))
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: read as %v (%v)", why, read, err)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\x1b\x07\n") {
			t.Errorf("the error would control a terminal: %q", err)
		}
	}
}

func TestRead_ends_with_a_file_that_does_not(t *testing.T) {
	var head bytes.Buffer
	if err := gzip.NewWriter(&head).Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(io.MultiReader(&head, endless{})); err == nil {
		t.Error("it was read")
	}
}

// endless is empty stored blocks of a packed file: bytes that unpack to nothing.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	const stored = "\x00\x00\x00\xff\xff"
	n := len(p) / len(stored) * len(stored)
	copy(p, strings.Repeat(stored, n/len(stored)))
	return n, nil
}
